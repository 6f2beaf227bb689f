import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type FakeUpstream, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { readConfig } from '../config.ts';
import { type RunningServer, startServer } from '../server.ts';

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const WireSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(Attribute),
  status: z.object({ code: z.int().optional() }),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(WireSpan) })),
    }),
  ),
});
type WireSpan = z.infer<typeof WireSpan>;

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLERS_SPAN = 'b7ad6b7169203331';
const endings: (() => unknown)[] = [];
const collected: WireSpan[] = [];
const authorizations: (string | undefined)[] = [];
let collector: Server;
/** By the names of their providers. Which is asked first is drawn; that one fails. */
let upstreams: { readonly east: FakeUpstream; readonly west: FakeUpstream };
let server: RunningServer;
let key: string;

beforeAll(async () => {
  const { url, drop } = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-tracing-'));
  endings.push(drop, () => rmSync(dataDir, { recursive: true, force: true }));
  upstreams = { east: await startFakeUpstream(), west: await startFakeUpstream() };
  let calls = 0;
  for (const upstream of Object.values(upstreams)) {
    endings.push(() => upstream.close());
    upstream.script(() => {
      calls += 1;
      return calls === 1 ? steps.serverError() : {};
    });
  }
  collector = createServer(async (req, res) => {
    authorizations.push(req.headers.authorization);
    const { resourceSpans } = Export.parse(await json(req));
    collected.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  endings.push(() => collector.close());
  await vi.waitFor(() => expect(collector.listening).toBe(true));
  const PROVIDERS_FILE = join(dataDir, 'providers.json');
  const models = ['gpt-4o-mini'];
  const providers = Object.entries(upstreams).map(([name, { url }]) => ({ name, base_url: url, api_key: 'sk-test', models }));
  writeFileSync(PROVIDERS_FILE, JSON.stringify({ providers }));
  const { port } = collector.address() as AddressInfo;
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
  };
  server = await startServer(
    readConfig({ DATABASE_URL: url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', PROVIDERS_FILE, ...tracing }),
    () => {},
  );
  endings.push(() => server.close());
  const { admin_email: email, admin_password: password } = server.bootstrap;
  const { session } = await post('/v1/users/login', {}, { email, password });
  ({ key } = await post('/v1/keys', { authorization: `Bearer ${session.token}` }, { name: 'traced' }));
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function post(path: string, headers: Record<string, string>, body: object) {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.json();
}

const chat = (headers: Record<string, string>) =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] }),
  });

const attributesOf = ({ attributes }: WireSpan) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const nameOf = (span: WireSpan | undefined) => z.enum(['east', 'west']).parse(span && attributesOf(span)['gen_ai.provider.name']);

test('a collector receives the whole trace of a fallback, with the caller’s trace id and the receipt id', async () => {
  const answer = await chat({ traceparent: `00-${TRACE_ID}-${CALLERS_SPAN}-01` });
  expect(answer.status).toBe(200);
  const receiptId = answer.headers.get('x-receipt-id');
  const ofTrace = () => collected.filter(({ traceId }) => traceId === TRACE_ID);
  await vi.waitFor(() => expect(ofTrace()).toHaveLength(5), { timeout: 60_000, interval: 20 });
  const [root, admission, failed, answered, settlement] = ofTrace();
  const [first, second] = [nameOf(failed), nameOf(answered)];
  expect(first).not.toBe(second);
  expect(ofTrace().map(({ name }) => name)).toEqual([
    'chat gpt-4o-mini',
    'admission',
    'chat gpt-4o-mini',
    'chat gpt-4o-mini',
    'settlement',
  ]);
  expect(root?.parentSpanId).toBe(CALLERS_SPAN);
  for (const span of [admission, failed, answered, settlement]) expect(span?.parentSpanId).toBe(root?.spanId);
  expect(root && attributesOf(root)).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.provider.name': second,
    'tallygate.receipt_id': receiptId,
    'tallygate.outcome': 'completed',
    'tallygate.fallback': 'deployment',
  });
  expect(failed && attributesOf(failed)).toMatchObject({ 'error.type': 'failed', 'http.response.status_code': '500' });
  expect(failed?.status).toEqual({ code: 2 });
  expect(answered && attributesOf(answered)).toMatchObject({ 'http.response.status_code': '200' });
  for (const span of ofTrace()) expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  // Each provider was told of the span of its own call.
  expect(upstreams[first].requests.at(-1)?.headers['traceparent']).toBe(`00-${TRACE_ID}-${failed?.spanId}-01`);
  expect(upstreams[second].requests.at(-1)?.headers['traceparent']).toBe(`00-${TRACE_ID}-${answered?.spanId}-01`);
  expect(new Set(authorizations)).toEqual(new Set(['Bearer of-the-collector']));
});

test('a trace that its caller has not sampled is passed on and not exported', async () => {
  const before = collected.length;
  const notSampled = 'c0ffee1916cd43dd8448eb211c80319c';
  expect((await chat({ traceparent: `00-${notSampled}-${CALLERS_SPAN}-00` })).status).toBe(200);
  const told = Object.values(upstreams).flatMap(({ requests }) => requests.map(({ headers }) => headers['traceparent']));
  expect(told).toContainEqual(expect.stringMatching(new RegExp(`^00-${notSampled}-[0-9a-f]{16}-00$`)));
  // One that begins here is, after it.
  expect((await chat({ traceparent: 'not-a-traceparent' })).status).toBe(200);
  await vi.waitFor(() => expect(collected.length).toBeGreaterThan(before), { timeout: 60_000, interval: 20 });
  expect(collected.filter(({ traceId }) => traceId === notSampled)).toEqual([]);
});
