import type { OpenApiDocument, Operation, Parameter, Reference, Response } from '../shape.ts';

/** The responses of an operation by their statuses, with those that it only refers to. */
export const answersIn = ({ components }: OpenApiDocument, { responses }: Pick<Operation, 'responses'>): Record<string, Response> =>
  Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, referred(response, components.responses)]));

/** The parameters of an operation, with those that it only refers to. */
export const parametersIn = ({ components }: OpenApiDocument, { parameters = [] }: Pick<Operation, 'parameters'>): Parameter[] =>
  parameters.map((parameter) => referred(parameter, components.parameters));

function referred<T extends object>(part: T | Reference, shared: Readonly<Record<string, T>>): T {
  if (!('$ref' in part)) return part;
  const found = shared[part.$ref.split('/').at(-1) ?? ''];
  if (!found) throw new Error(`The document has no ${part.$ref}`);
  return found;
}
