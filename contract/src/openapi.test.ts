import { initContract } from '@ts-rest/core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ERROR_CODES, ERRORS } from './errors.ts';
import { contract } from './index.ts';
import { AnthropicError, GoogleError } from './inference.ts';
import { nameOfRefusal } from './openapi/operation.ts';
import { formOf, problemExample } from './openapi/refusals.ts';
import { type Answer, type Route, routesOf } from './openapi/route.ts';
import type { JsonSchema } from './openapi/shape.ts';
import { answersIn } from './openapi/testing/shared-parts.ts';
import { openApiDocument } from './openapi.ts';
import { HTTPValidationError, Problem } from './problem.ts';

const PROBLEM = 'application/problem+json';
const c = initContract();
const document = openApiDocument();
const routes = routesOf(contract);
const operationOf = (route: { path: string; method: string }) => document.paths[route.path]?.[route.method];

describe.each(routes)('$method $path', (route) => {
  const operation = operationOf(route);
  const answers = operation ? answersIn(document, operation) : {};

  test('shows a request that its schema takes', () => {
    const example = operation?.requestBody?.content[route.bodyType]?.example;
    if (route.body) expect(route.body.safeParse(example).error).toBeUndefined();
    else expect(operation?.requestBody).toBeUndefined();
  });

  test('shows an answer that its schema gives, for every status with a body', () => {
    for (const { status, contentType, schema } of route.responses.filter((answer) => !isRefusal(route, answer))) {
      const media = answers[status]?.content?.[contentType];
      if (schema) expect(schema.safeParse(media?.example).error).toBeUndefined();
      else expect(media).toBeUndefined();
    }
  });

  test('shows each refusal that it can give under its status, and its class declares those', () => {
    const { surface } = route.metadata;
    const form = surface ? 'application/json' : PROBLEM;
    const shown = Object.entries(answers).filter(([status, { content }]) => Number(status) >= 400 && content?.[form]?.examples);
    const declared = route.responses.filter((answer) => isRefusal(route, answer)).map(({ status }) => status);
    for (const [status, { content }] of shown) {
      const codes = ERROR_CODES.filter((code) => content?.[form]?.examples?.[code]);
      expect(codes).not.toEqual([]);
      const record = surface
        ? { anthropic: AnthropicError, google: GoogleError }[surface]
        : z.looseObject({ status: z.literal(Number(status)) });
      for (const code of codes) expect(record.safeParse(exampleNamed(nameOfRefusal([code], formOf(route)))).error).toBeUndefined();
      expect(declared, status).toContain(Number(status));
    }
    expect(shown.length).toBeGreaterThan(0);
  });

  test('names the request id among the headers of every answer', () => {
    for (const response of Object.values(answers)) expect(response.headers).toHaveProperty('X-Request-Id');
  });

  test('has security alternatives only for the credentials it declares', () => {
    const declared = new Set(route.headers.map(({ name }) => name));
    const alternatives = operation?.security.flatMap((alternative) => Object.keys(alternative)) ?? [];
    expect(alternatives.includes('bearerAuth')).toBe(route.metadata.auth === 'bearer');
    expect(alternatives.includes('apiKey')).toBe(route.metadata.auth === 'bearer' && !route.metadata.session && declared.has('x-api-key'));
    expect(alternatives.includes('internalSecret')).toBe(route.metadata.auth === 'internal');
  });
});

/** On a surface they have no media type of their own. */
const isRefusal = ({ metadata }: Route, { contentType, status }: Answer): boolean =>
  contentType === PROBLEM || (metadata.surface !== undefined && status >= 400);

const exampleNamed = (name: string) => document.components.examples[name]?.value;

test.each(ERROR_CODES)('shows %s as the problem document that it is', (code) => {
  const record = ERRORS[code].status === 422 ? HTTPValidationError : Problem;
  expect(z.strictObject(record.shape).safeParse(problemExample(code)).error).toBeUndefined();
  expect(z.strictObject(Problem.shape).safeParse(problemExample(code, '/v1/chat/completions')).error).toBeUndefined();
});

test('names a refusal once, however many operations answer with it', () => {
  const named = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.entries(responses).filter(([status]) => Number(status) >= 400)),
  );
  expect(named.filter(([, response]) => !('$ref' in response) && response.content?.[PROBLEM])).toEqual([]);
  const refusals = Object.values(document.components.responses).filter(({ content }) => content?.[PROBLEM]);
  expect(refusals.length).toBeLessThan(110);
});

test('says once what several operations take or answer in the same form', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const own = <T extends object>(parts: readonly T[]) => parts.filter((part) => !('$ref' in part)).map((part) => JSON.stringify(part));
  const taken = own(operations.flatMap(({ parameters = [] }) => parameters));
  const answered = own(operations.flatMap(({ responses }) => Object.values(responses)));
  expect(taken.length).toBeGreaterThan(0);
  // Of two forms of one name only the commoner has it for itself.
  expect(taken.length - new Set(taken).size).toBeLessThan(40);
  expect(answered.length - new Set(answered).size).toBeLessThan(20);
});

test('shows an event for every stream', () => {
  const streamed = routes.flatMap((route) => (route.metadata.events ? [{ route, schema: route.metadata.events }] : []));
  expect(streamed.length).toBeGreaterThan(5);
  for (const { route, schema } of streamed) {
    const operation = operationOf(route);
    const answer = operation && answersIn(document, operation)['200'];
    expect(schema.safeParse(answer?.content?.['text/event-stream']?.example).error).toBeUndefined();
  }
});

test('gives every operation a unique id', () => {
  const ids = routes.map((route) => route.metadata.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('leaves no schema empty', () => {
  expect(emptySchemas(document, '#')).toEqual([]);
});

describe('a record that is sent and answered', () => {
  const common = { responses: {}, summary: 'S', description: 'D', metadata: { auth: 'none', tag: 'Keys', operationId: 'x' } as const };
  const both = (record: z.ZodType) =>
    openApiDocument(c.router({ put: { ...common, method: 'PUT', path: '/x', body: record, responses: { 200: record } } })).components
      .schemas;

  test('is split where a default makes the two differ, and so is what contains it', () => {
    const Inner = z.object({ size: z.int().default(1) }).meta({ id: 'SplitInner', examples: [{ size: 1 }] });
    const Outer = z.object({ inner: Inner }).meta({ id: 'SplitOuter' });
    const schemas = both(Outer);
    expect(Object.keys(schemas).filter((name) => name.startsWith('Split'))).toEqual([
      'SplitInner',
      'SplitInnerInput',
      'SplitOuter',
      'SplitOuterInput',
    ]);
    expect([schemas['SplitInner']?.required, schemas['SplitInnerInput']?.required]).toEqual([['size'], undefined]);
    expect(schemas['SplitOuterInput']?.properties?.['inner']).toEqual({ $ref: '#/components/schemas/SplitInnerInput' });
  });

  test('is one where the two are the same, and still refuses unknown fields', () => {
    const Same = z.strictObject({ size: z.int().meta({ examples: [1] }) }).meta({ id: 'SameBothWays' });
    expect(both(Same)).toMatchObject({ SameBothWays: { additionalProperties: false } });
  });
});

test('refuses a schema that has nothing to show, by its name', () => {
  const Mute = z.object({ text: z.string() }).meta({ id: 'MuteRecord' });
  const route = { method: 'GET', path: '/mute', summary: 'S', description: 'D', responses: { 200: Mute } } as const;
  const metadata = { auth: 'none', tag: 'Keys', operationId: 'mute' } as const;
  expect(() => openApiDocument(c.router({ mute: { ...route, metadata } }))).toThrow('MuteRecord.text has nothing to show');
});

/** Where `{}` is a schema; a schema that accepts everything must have a description. */
function emptySchemas(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const here = `${path}/${key}`;
    if (key === 'examples' || key === 'example' || key === 'default') return [];
    const places: JsonSchema[] = key === 'properties' ? Object.values(value) : key === 'schema' || key === 'items' ? [value] : [];
    return [...places.filter((schema) => Object.keys(schema).length === 0).map(() => here), ...emptySchemas(value, here)];
  });
}
