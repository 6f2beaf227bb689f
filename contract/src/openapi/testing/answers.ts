import type { OpenApiDocument, Operation, Reference, Response } from '../shape.ts';

/** The responses of an operation by their statuses, with those that it only refers to. */
export const answersIn = (document: OpenApiDocument, { responses }: Pick<Operation, 'responses'>): Record<string, Response> =>
  Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, referred(document, response)]));

function referred({ components }: OpenApiDocument, response: Response | Reference): Response {
  if (!('$ref' in response)) return response;
  const found = components.responses[response.$ref.replace('#/components/responses/', '')];
  if (!found) throw new Error(`The document has no ${response.$ref}`);
  return found;
}
