/** Where metrics and health are answered in production, unless `OPERATIONS_PORT` says another one. */
const OPERATIONS_PORT = 8789;
/** As a value of `OPERATIONS_PORT`: at the address for everybody. */
export const NO_PORT_OF_ITS_OWN = 'off';

interface Given {
  readonly NODE_ENV?: string | undefined;
  readonly OPERATIONS_PORT?: number | string | undefined;
}

/**
 * The port for operators; undefined where they are answered at the address for everybody. What production is: `NODE_ENV=production`, which the
 * program of the package sets where nothing else is said, and so do the image and the units that run it.
 */
export function operationsPortOf({ NODE_ENV, OPERATIONS_PORT: given }: Given): number | undefined {
  if (given === NO_PORT_OF_ITS_OWN) return undefined;
  if (given !== undefined && given !== '') return Number(given);
  return NODE_ENV === 'production' ? OPERATIONS_PORT : undefined;
}
