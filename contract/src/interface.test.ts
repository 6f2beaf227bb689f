import { describe, expect, test } from 'vitest';
import { type AuthClass, INTERFACE_ROWS, type InterfaceRow } from './interface-rows.ts';
import { isOpenAiPath } from './openai-errors.ts';
import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './openapi/shape.ts';
import { answersIn, parametersIn } from './openapi/testing/shared-parts.ts';
import { openApiDocument } from './openapi.ts';

const document = openApiDocument();
const nameOf = ({ method, path }: InterfaceRow) => `${method} ${path}`;
const find = ({ method, path }: InterfaceRow, { paths }: OpenApiDocument) => paths[path]?.[method.toLowerCase()];

test.each(INTERFACE_ROWS.map((row) => [nameOf(row), row] as const))('%s is declared as the interface has it', (_name, row) => {
  const operation = find(row, document);
  expect(operation).toBeDefined();
  if (operation) expect(mismatches(row, operation, document)).toEqual([]);
});

describe('a declared route fails', () => {
  const [create] = INTERFACE_ROWS.filter((row) => nameOf(row) === 'POST /v1/keys');
  const broken = (change: (operation: Operation) => Operation): string[] => {
    const operation = create && find(create, document);
    return create && operation ? mismatches(create, change(operation), document) : [];
  };

  test.each<[string, (operation: Operation) => Operation, string]>([
    ['without its bearer scheme', (as) => ({ ...as, security: [] }), 'security: no bearer scheme'],
    ['with a header of another class', (as) => ({ ...as, parameters: [...headers, header('x-api-key')] }), 'headers: x-api-key'],
    ['without a header of its class', (as) => ({ ...as, parameters: headers.slice(1) }), 'headers: x-web-session-token, expected'],
    ['that requires a header', (as) => ({ ...as, parameters: headers.map(required) }), 'x-internal-secret: must be an optional string'],
    ['with another request record', (as) => ({ ...as, requestBody: body('Other') }), 'request: Other'],
    ['without a body', ({ requestBody: _gone, ...as }) => as, 'request: none'],
    ['with a query parameter', (as) => ({ ...as, parameters: [...headers, query('q')] }), 'query: q'],
    ['with another success status', (as) => ({ ...as, responses: { ...as.responses, 200: answer('Other') } }), 'success: 200, 201'],
    ['with another answer', (as) => ({ ...as, responses: { ...as.responses, 201: answer('KeyResponse') } }), 'answer: KeyResponse'],
    ['without a 422', (as) => ({ ...as, responses: { 201: answer('KeyCreatedResponse') } }), '422: none'],
  ])('%s', (_title, change, complaint) => {
    expect(broken(change)).toContainEqual(expect.stringContaining(complaint));
  });

  test('and none of that is so of the route as it is', () => {
    expect(broken((as) => as)).toEqual([]);
    expect(create).toBeDefined();
  });

  const ref = (record: string) => ({ $ref: `#/components/schemas/${record}` });
  const text = { required: false, schema: { type: 'string' as const } };
  const header = (name: string): Parameter => ({ name, in: 'header', ...text });
  const query = (name: string): Parameter => ({ name, in: 'query', ...text });
  const required = (parameter: Parameter) => ({ ...parameter, required: true });
  const headers = [header('x-internal-secret'), header('x-web-session-token')];
  const body = (record: string) => ({ required: true, content: { 'application/json': { schema: ref(record) } } });
  const answer = (record: string) => ({ description: 'x', headers: {}, content: { 'application/json': { schema: ref(record) } } });
});

const CREDENTIAL_HEADERS = ['x-api-key', 'x-internal-secret', 'x-web-session-token', 'x-event-email'];
const HEADERS_OF: Record<Exclude<AuthClass, '*' | 'inference'>, string[]> = {
  none: [],
  A: ['x-api-key', 'x-internal-secret', 'x-web-session-token'],
  B: ['x-internal-secret', 'x-web-session-token'],
  S: ['x-internal-secret'],
  event: ['x-event-email'],
};
const UUIDS = ['key_id', 'event_id', 'registration_id'];
/** What the interface says of a query parameter beyond its name. */
const QUERY_SCHEMAS: Record<string, JsonSchema> = {
  email: { type: 'string', format: 'email' },
  limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  offset: { type: 'integer', minimum: 0, default: 0 },
};

/** Additions to the interface. Each is optional, so that clients of the interface are not affected. */
const LATER_QUERY: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/marketing/people': ['consent'],
  'GET /v1/events/admin/registrations': ['status', 'limit', 'offset'],
};

/** What an operation has that differs from its row of the interface, one complaint each. */
function mismatches(row: InterfaceRow, operation: Operation, { components }: OpenApiDocument): string[] {
  return [...credentialFaults(row, operation), ...inputFaults(row, operation), ...answerFaults(row, operation, components.schemas)];
}

function credentialFaults({ auth }: InterfaceRow, operation: Operation): string[] {
  if (auth === '*') return [];
  const schemes = operation.security.flatMap((alternative) => Object.keys(alternative));
  const headers = parametersIn(document, operation).filter((parameter) => parameter.in === 'header');
  const takes = headers.map(({ name }) => name);
  const isBearer = auth !== 'none' && auth !== 'S';
  const wanted = auth === 'inference' ? ['x-vaas-anchor', 'x-agent-run-id', 'x-agent-max-budget'] : HEADERS_OF[auth];
  const judged =
    auth === 'inference' ? takes.filter((name) => wanted.includes(name)) : takes.filter((name) => CREDENTIAL_HEADERS.includes(name));
  return [
    ...(schemes.includes('bearerAuth') === isBearer ? [] : [`security: ${isBearer ? 'no' : 'a'} bearer scheme`]),
    ...(auth === 'none' && schemes.length > 0 ? [`security: ${schemes}, none expected`] : []),
    ...(sameSet(judged, wanted) ? [] : [`headers: ${judged.sort()}, expected ${wanted}`]),
    ...headers
      .filter(({ required, schema }) => required || schema.type !== 'string')
      .map(({ name }) => `${name}: must be an optional string`),
  ];
}

function inputFaults({ method, request, query, path }: InterfaceRow, operation: Operation): string[] {
  const parameters = parametersIn(document, operation);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const body = operation.requestBody;
  const record = body ? recordOf(Object.values(body.content)[0]?.schema) : 'none';
  const later = LATER_QUERY[`${method} ${path}`] ?? [];
  const names = inQuery.map(({ name, required }) => (required ? `${name}!` : name)).filter((name) => !later.includes(name));
  const takesInput = body !== undefined || inQuery.length + inPath.length > 0;
  // What is OpenAI's says it with 400, as OpenAI does.
  const [status, expected] = isOpenAiPath(path) ? ['400', 'Problem'] : ['422', 'HTTPValidationError'];
  const invalid = recordOf(answersIn(document, operation)[status]?.content?.['application/problem+json']?.schema);
  return [
    // A route may take an optional body where the interface has none; it must work without.
    ...(request === undefined && body?.required ? [`request: ${record} is required, expected none`] : []),
    ...(request !== undefined && (!body?.required || (request !== '*' && record !== request))
      ? [`request: ${record}, expected ${request}`]
      : []),
    ...(query.length > 0 ? inQuery.flatMap(queryFaults) : []),
    ...(sameSet(names, query) || sameSet(names, [...query, ...paging(operation)]) ? [] : [`query: ${names}, expected ${query}`]),
    ...(sameSet(
      inPath.map(({ name }) => `{${name}}`),
      path.match(/\{\w+\}/g) ?? [],
    )
      ? []
      : ['path: parameters differ']),
    ...inPath.filter(({ name, schema }) => UUIDS.includes(name) && schema.format !== 'uuid').map(({ name }) => `${name}: must be a uuid`),
    ...(takesInput && invalid !== expected ? [`${status}: ${invalid}, expected ${expected}`] : []),
  ];
}

/** A list in the one shape is read in pages, which the interface leaves open. */
function paging(operation: Operation): string[] {
  const record = recordOf(answersIn(document, operation)['200']?.content?.['application/json']?.schema);
  return document.components.schemas[record]?.properties?.['next_cursor'] ? ['limit', 'cursor'] : [];
}

function queryFaults({ name, schema }: Parameter): string[] {
  const wanted = Object.entries(QUERY_SCHEMAS[name] ?? { type: 'string' });
  return wanted.filter(([keyword, value]) => schema[keyword] !== value).map(([keyword, value]) => `${name}: ${keyword} must be ${value}`);
}

function answerFaults({ status, answer }: InterfaceRow, operation: Operation, schemas: Record<string, JsonSchema>): string[] {
  const successes = Object.keys(operation.responses).filter((code) => code.startsWith('2'));
  if (!sameSet(successes, [String(status)])) return [`success: ${successes.join(', ')}, expected ${status}`];
  const schema = answersIn(document, operation)[status]?.content?.['application/json']?.schema;
  const record = recordOf(schema);
  if (answer === '*') return [];
  if (answer === 'object') return schemas[record]?.type === 'object' ? [] : [`answer: ${record}, expected an object`];
  return record === (answer || 'none') ? [] : [`answer: ${record}, expected ${answer || 'none'}`];
}

/** The record or records that a schema names, in the notation of the rows. */
function recordOf(schema: JsonSchema | undefined): string {
  if (!schema) return 'none';
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? schema.$ref;
  if (schema.type === 'array' && typeof schema.items === 'object' && !Array.isArray(schema.items)) return `${recordOf(schema.items)}[]`;
  if (schema.anyOf) return schema.anyOf.map(recordOf).join(' | ');
  return 'a schema without a name';
}

function sameSet(found: readonly string[], wanted: readonly string[]): boolean {
  return found.length === wanted.length && found.every((name) => wanted.includes(name));
}
