import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract, SCOPES } from '@tallygate/contract';
import { type AppRoute, type AppRouter, isAppRoute } from '@ts-rest/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

/** What becomes of a field that the contract does not have: providers have parameters of their own, and clients send them. */
const PASSED = [
  'POST /v1/audio/speech',
  'POST /v1/chat/completions',
  'POST /v1/completions',
  'POST /v1/embeddings',
  'POST /v1/images/generations',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /v1/moderations',
  'POST /v1/rerank',
  'POST /v1/responses',
  'POST /v1/responses/input_tokens',
  'POST /v1/videos/:video_id/remix',
  'POST /v1/videos/edits',
  'POST /v1/videos/extensions',
  'POST /v1beta/models/:model/batchEmbedContents',
  'POST /v1beta/models/:model/embedContent',
  'POST /v1beta/models/:model/generateContent',
  'POST /v1beta/models/:model/streamGenerateContent',
];
/** They look for the video first; `spelling.test.ts` has what they refuse. */
const OF_A_VIDEO = PASSED.filter((name) => name.includes('/videos/'));
/** Bodies of another service, which adds fields when it wants to. */
const OF_STRIPE = 'POST /v1/plans/webhooks/stripe';

let server: RunningServer;
let key: Record<string, string>;
let session: Record<string, string>;
const endings: (() => unknown)[] = [];

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-fields-'));
  endings.push(() => rmSync(dataDir, { recursive: true, force: true }), drop);
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', REFUSED_REQUESTS_PER_MINUTE: '1000000' }),
    () => {},
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password, internal_secret } = server.bootstrap;
  const internal = { 'content-type': 'application/json', 'x-internal-secret': internal_secret ?? '' };
  const login = await (await ask('/v1/users/login', internal, { email, password })).json();
  session = { ...internal, authorization: `Bearer ${login.session.token}` };
  const created = await (await ask('/v1/keys', session, { name: 'test', livemode: false, scopes: SCOPES })).json();
  key = { ...internal, authorization: `Bearer ${created.key}` };
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

const ask = (path: string, headers: Record<string, string>, json: object, method = 'POST') =>
  fetch(server.url + path, { method, headers, body: JSON.stringify(json) });

interface JsonRoute {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly example: object;
}

const routesIn = (router: AppRouter): AppRoute[] =>
  Object.values(router).flatMap((entry) => (isAppRoute(entry) ? [entry] : routesIn(entry)));
const ANY_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

/** Objects that a body may be: of several forms all. */
function formsOf(schema: z.core.$ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(formsOf);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return formsOf(schema.unwrap());
  return [];
}

const JSON_ROUTES: readonly JsonRoute[] = routesIn(contract).flatMap((route) => {
  if (!('body' in route) || !(route.body instanceof z.ZodType) || route.contentType === 'multipart/form-data') return [];
  const [form] = formsOf(route.body);
  if (!form) return [];
  const examples = route.body.meta()?.['examples'] ?? form.meta()?.['examples'];
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  const fields = formsOf(route.body).flatMap(({ shape }) => Object.keys(shape));
  // Google's operations are named behind a colon.
  const model = route.path.toLowerCase().includes('embed') ? 'text-embedding-3-small' : 'gpt-4o-mini';
  const path = route.path.replace(/^(\/v1beta\/models\/):model\/(\w+)$/, `$1${model}:$2`).replaceAll(/\/:\w+/g, `/${ANY_ID}`);
  return [{ name: `${route.method} ${route.path}`, method: route.method, path, fields, example: Object(example) }];
});

const lettersOf = (text: string): string => text.replaceAll('_', '').toLowerCase();

/** What runs or counts a model takes API keys. */
const credentialOf = ({ name }: JsonRoute) => (PASSED.includes(name) || name.includes('/v1beta/') ? key : session);

/** What of a request with one field more is refused: the field, or something else of it, or nothing. */
async function refusalOf({ path, method, example }: JsonRoute, field: string, headers = session) {
  const answer = await ask(path, headers, { ...example, [field]: null }, method);
  const text = await answer.text();
  // Google's form reads both spellings, and names fields in camel case.
  return { status: answer.status, isOfField: answer.status >= 400 && lettersOf(text).includes(lettersOf(field)) };
}

test('what runs a model passes an unknown field on, and every other operation refuses it', async () => {
  const passed: string[] = [];
  for (const route of JSON_ROUTES) {
    const { isOfField } = await refusalOf(route, 'no_such_field', credentialOf(route));
    if (!isOfField) passed.push(route.name);
  }
  expect(JSON_ROUTES.length).toBeGreaterThan(85);
  expect(passed.sort()).toEqual([...PASSED, OF_STRIPE].sort());
});

test('every operation that passes unknown fields on answers a request that has one', async () => {
  const refused: unknown[] = [];
  for (const route of JSON_ROUTES.filter(({ name }) => PASSED.includes(name) && !OF_A_VIDEO.includes(name))) {
    const { status } = await refusalOf(route, 'no_such_field', key);
    if (status !== 200) refused.push([route.name, status]);
  }
  expect(refused).toEqual([]);
});

test('every operation refuses a name that differs from that of a field in case alone', async () => {
  const taken: unknown[] = [];
  for (const route of JSON_ROUTES.filter(({ name }) => name !== OF_STRIPE && !OF_A_VIDEO.includes(name)))
    for (const field of PASSED.includes(route.name) ? route.fields : route.fields.slice(0, 1)) {
      const written = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
      const { status, isOfField } = await refusalOf(route, written, credentialOf(route));
      if (!isOfField) taken.push([route.name, written, status]);
    }
  expect(taken).toEqual([]);
});
