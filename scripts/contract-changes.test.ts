import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { breakingChanges } from './contract-changes/breaking-changes.ts';
import type { Document, Operation, Schema } from './contract-changes/openapi.ts';

const CONTRACT: Document = JSON.parse(readFileSync(new URL('../contract/openapi.json', import.meta.url), 'utf8'));

const json = (schema: Schema) => ({ 'application/json': { schema } });
const text: Schema = { type: 'string' };
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

const documentOf = (operation: Partial<Operation>, schemas: Record<string, Schema> = {}): Document => ({
  paths: { '/v1/things': { post: { responses: { 200: {} }, ...operation } } },
  components: { schemas },
});
const sending = (schema: Schema) => documentOf({ requestBody: { content: json(schema) } });
const receiving = (schema: Schema) => documentOf({ responses: { 200: { content: json(schema) } } });
const changes = (before: Document, after: Document) => breakingChanges(before, after).map((line) => line.replace('POST /v1/things: ', ''));
const whenSent = (before: Schema, after: Schema) => changes(sending(before), sending(after));
const whenReceived = (before: Schema, after: Schema) => changes(receiving(before), receiving(after));

it('finds nothing between a contract and itself, and what is taken out of it', () => {
  expect(breakingChanges(CONTRACT, CONTRACT)).toEqual([]);
  const { '/v1/keys': _, ...paths } = CONTRACT.paths;
  expect(breakingChanges(CONTRACT, { ...CONTRACT, paths })).toEqual(['POST /v1/keys: removed', 'GET /v1/keys: removed']);
});

it.each<[string, Schema, Schema, string[]]>([
  ['a field that must be sent', object({}), object({ a: text }, { required: ['a'] }), ['body.a: now required']],
  [
    'a field that is refused',
    object({ a: text }),
    object({}, { additionalProperties: false }),
    ['body.a: removed', 'body: unknown fields are refused now'],
  ],
  ['a value that is refused', { enum: ['a', 'b'] }, { enum: ['a'] }, ['body: value "b" removed']],
  ['values where anything was taken', text, { type: 'string', enum: ['a'] }, ['body: any value was accepted, now "a"']],
  ['a type that is refused', { type: ['string', 'null'] }, text, ['body: type was string or null, is string']],
  ['a tighter bound', { maximum: 10 }, { maximum: 5 }, ['body: maximum was 10, is 5']],
  ['a new bound', text, { type: 'string', minLength: 1 }, ['body: minLength was not set, is 1']],
  ['a variant that is gone', { anyOf: [text, { type: 'null' }] }, text, ['body: variant 2 removed or changed']],
  [
    'a change deep inside',
    object({ a: { items: object({ b: text }) } }),
    object({ a: { items: object({ b: { type: 'number' } }) } }),
    ['body.a[].b: type was string, is number'],
  ],
])('refuses, of what is sent, %s', (_, before, after, lines) => {
  expect(whenSent(before, after)).toEqual(lines);
});

it.each<[string, Schema, Schema, string[]]>([
  ['a field that is gone', object({ a: text }), object({}), ['200.a: removed']],
  ['a field that may be missing', object({ a: text }, { required: ['a'] }), object({ a: text }), ['200.a: no longer always there']],
  ['a null that was not there', text, { anyOf: [text, { type: 'null' }] }, ['200: may be null now']],
  ['a type that was not there', text, { type: ['string', 'null'] }, ['200: type was string, is string or null']],
])('refuses, of what is received, %s', (_, before, after, lines) => {
  expect(whenReceived(before, after)).toEqual(lines);
});

it('lets a contract grow', () => {
  expect(whenSent(object({ a: text }), object({ a: { type: ['string', 'null'] }, b: text }))).toEqual([]);
  expect(whenSent({ enum: ['a'] }, { enum: ['a', 'b'] })).toEqual([]);
  expect(whenSent({ anyOf: [text] }, { anyOf: [{ type: 'number' }, text] })).toEqual([]);
  expect(whenReceived(object({ a: { enum: ['a'] } }), object({ a: { enum: ['a', 'b'] }, b: text }, { required: ['a', 'b'] }))).toEqual([]);
  expect(changes(documentOf({}), { paths: { ...documentOf({}).paths, '/v1/more': {} } })).toEqual([]);
});

it('refuses parameters, bodies, credentials and answers that change under a client', () => {
  const query = (name: string, required = false) => ({ name, in: 'query', required, schema: text });
  const before = documentOf({ parameters: [query('a'), query('b')], security: [{}, { bearerAuth: [] }], responses: { 200: {}, 404: {} } });
  const after = documentOf({
    parameters: [query('b', true), query('c')],
    security: [{ bearerAuth: [] }],
    requestBody: { required: true, content: json(text) },
    responses: { 201: {} },
  });
  expect(changes(before, after)).toEqual([
    'credential none no longer accepted',
    'query a: removed',
    'query b: now required',
    'body: now required',
    '200: removed',
  ]);
});

it('follows schemas that contain themselves, and names a change once', () => {
  const tree = (leaf: Schema): Document =>
    documentOf(
      { requestBody: { content: json({ $ref: '#/components/schemas/Tree' }) } },
      { Tree: object({ leaf, left: { $ref: '#/components/schemas/Tree' }, right: { $ref: '#/components/schemas/Tree' } }) },
    );
  expect(changes(tree(text), tree({ type: 'number' }))).toEqual(['body.leaf: type was string, is number']);
});
