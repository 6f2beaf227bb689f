import * as z from 'zod';
import { ROUTES } from './contract-check.ts';

/** The example that the contract itself gives of an answer. @param name such as `plans.current` */
export function exampleAnswer(name: string, status = 200): object {
  const declared = ROUTES.find((route) => route.name === name)?.responses[status];
  const examples: unknown = declared instanceof z.ZodType ? z.globalRegistry.get(declared)?.examples : undefined;
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  if (typeof example !== 'object' || example === null) throw new Error(`The contract gives no example of the ${status} of ${name}.`);
  return example;
}
