import { describe, expect, test } from 'vitest';
import type { JsonSchema, OpenApiDocument } from './openapi/shape.ts';
import { answersIn, parametersIn } from './openapi/testing/shared-parts.ts';
import { openApiDocument } from './openapi.ts';

const document = openApiDocument();

/** Lists whose shape is not ours to choose. Each takes the place of `data`, `has_more` and `next_cursor` for the reason that heads it. */
const PRESCRIBED_LISTS: readonly string[] = [
  // The interface specification says "array of".
  ...['GET /v1/keys', 'GET /v1/events', 'GET /v1/events/admin', 'GET /v1/events/admin/registrations', 'GET /v1/plans/config'],
  // The interface specification gives it `limit` and `offset`; the answer about one person is the same record.
  ...['GET /v1/marketing/people', 'GET /v1/marketing/people/{person_id}'],
  // The interface specification gives a record of the sums over all keys.
  'GET /v1/keys/budget-summary',
  // OpenAI's lists, and the list of a batch's errors.
  ...['GET /v1/models', 'GET /v1/files', 'GET /v1/batches', 'GET /v1/videos', 'GET /v1/chat/completions'],
  ...['GET /v1/chat/completions/{completion_id}/messages', 'GET /v1/responses/{response_id}/input_items'],
  ...['GET /v1/conversations/{conversation_id}/items', 'GET /v1/batches/{batch_id}'],
  // Anthropic's.
  'GET /v1/messages/batches',
  // Documents that are read as a whole: the prices by which receipts are checked offline, a report with its sum, and figures of the moment.
  ...['GET /v1/prices', 'GET /v1/usage', 'GET /v1/admin/usage', 'GET /v1/live'],
  // It has the one shape, and beside it the checkpoint that the proofs of all its entries are against.
  'GET /v1/log/declarations',
];

test('every list that is not prescribed has one shape and one way to the next page', () => {
  expect(faultsOf(document).filter(({ operation }) => !PRESCRIBED_LISTS.includes(operation))).toEqual([]);
});

test('no list is excepted that has the one shape', () => {
  const faulty = new Set(faultsOf(document).map(({ operation }) => operation));
  expect(PRESCRIBED_LISTS.filter((operation) => !faulty.has(operation))).toEqual([]);
});

describe('a list is refused', () => {
  const text: JsonSchema = { type: 'string' };
  const things: JsonSchema = { type: 'array', items: text };
  const shape: Record<string, JsonSchema> = {
    ...{ data: things, has_more: { type: 'boolean' }, next_cursor: { anyOf: [text, { type: 'null' }] } },
  };
  const faults = (schema: JsonSchema, query: readonly string[] = ['limit', 'cursor']) =>
    faultsOf({
      ...document,
      paths: {
        '/v1/things': {
          get: {
            ...{ operationId: 'listThings', summary: '', description: '', tags: [], security: [] },
            parameters: query.map((name) => ({ name, in: 'query' as const, required: false, schema: text })),
            responses: { 200: { description: '', headers: {}, content: { 'application/json': { schema } } } },
          },
        },
      },
    }).map(({ fault }) => fault);
  const object = (properties: Record<string, JsonSchema>): JsonSchema => ({ type: 'object', properties });

  test.each<[string, JsonSchema, string[]?]>([
    ['that is a bare array', things],
    ['with items and a total', object({ items: things, total: { type: 'integer' } })],
    ['without a cursor in its answer', object({ data: things, has_more: { type: 'boolean' } })],
    ['with more than the one shape', object({ ...shape, total: { type: 'integer' } })],
    ['inside a record', object({ name: text, steps: object({ items: things }) })],
    ['that skips a number of items', object(shape), ['limit', 'offset']],
    ['that continues after an id', object(shape), ['limit', 'after']],
    ['that takes no limit', object(shape), ['cursor']],
  ])('%s', (_title, schema, query) => {
    expect(faults(schema, query)).not.toEqual([]);
  });

  test('and none that has the shape', () => {
    expect(faults(object(shape))).toEqual([]);
    expect(faults(object({ name: text, steps: object(shape) }))).toEqual([]);
    expect(faults(object({ name: text, tags: things }), [])).toEqual([]);
  });
});

interface Fault {
  readonly operation: string;
  readonly fault: string;
}

const SHAPE = ['data', 'has_more', 'next_cursor'];
const PAGING = ['after', 'before', 'cursor', 'limit', 'offset', 'page', 'starting_after'];

/** What is wrong with the lists that operations answer with. */
function faultsOf(of: OpenApiDocument): Fault[] {
  return Object.entries(of.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method === 'get')
      .flatMap(([method, operation]) => {
        const schema = answersIn(of, operation)['200']?.content?.['application/json']?.schema;
        const lists = schema ? listsIn(of, schema) : [];
        const paging = parametersIn(of, operation)
          .filter(({ name, in: place }) => place === 'query' && PAGING.includes(name))
          .map(({ name }) => name)
          .sort();
        const faults = [
          ...lists.filter((fields) => fields.join() !== SHAPE.join()).map((fields) => `its fields are ${fields.join(', ') || 'none'}`),
          ...(lists.length > 0 && paging.join() !== 'cursor,limit' ? [`it is read by ${paging.join(', ') || 'nothing'}`] : []),
        ];
        return faults.map((fault) => ({ operation: `${method.toUpperCase()} ${path}`, fault }));
      }),
  );
}

/** The fields of every list in an answer, however deep; none of a bare array. Other arrays, such as tags, are fields of a record. */
function listsIn(of: OpenApiDocument, schema: JsonSchema, isTop = true): string[][] {
  const { type, properties = {}, anyOf } = resolved(of, schema);
  // In the form of another maker as well.
  if (isTop && anyOf) return anyOf.flatMap((one) => listsIn(of, one));
  if (type === 'array') return isTop ? [[]] : [];
  const inner = Object.values(properties).flatMap((property) => (typeof property === 'object' ? listsIn(of, property, false) : []));
  const isList = ['data', 'items'].some((name) => {
    const property = properties[name];
    return typeof property === 'object' && resolved(of, property).type === 'array';
  });
  return isList ? [Object.keys(properties).sort(), ...inner] : inner;
}

const resolved = ({ components }: OpenApiDocument, schema: JsonSchema): JsonSchema =>
  (schema.$ref && components.schemas[schema.$ref.split('/').at(-1) ?? '']) || schema;
