import * as z from 'zod';
import { port } from './config-values.ts';
import { NO_PORT_OF_ITS_OWN, operationsPortOf } from './operations-address.ts';

export const OPERATIONS_VARIABLES = {
  NODE_ENV: z.string().optional(),
  OPERATIONS_PORT: z.union([z.literal(NO_PORT_OF_ITS_OWN), port], `Expected a port, or ${NO_PORT_OF_ITS_OWN}`).optional(),
  OPERATIONS_HOST: z.string().min(1).optional(),
};

const Given = z.object({ ...OPERATIONS_VARIABLES, HOST: z.string() });

export type OperationsConfig = { readonly host: string; readonly port: number } | undefined;

/** A listener for the metrics and the health checks, which the others do not have then; undefined: there is none. */
export function operationsOf(given: z.infer<typeof Given>): OperationsConfig {
  const own = operationsPortOf(given);
  return own === undefined ? undefined : { host: given.OPERATIONS_HOST ?? given.HOST, port: own };
}
