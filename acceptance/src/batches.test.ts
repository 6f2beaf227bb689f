import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type FakeUpstream, type RecordedRequest, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { sum, usd } from './money.ts';

/** More than any page or piece that a batch is worked on in. */
const LINES = Number(process.env['BATCH_LINES_UNDER_TEST'] ?? 1_000);
const KILLS = 3;
/** The default of a gateway. */
const LINES_AT_ONCE = 8;
const MOST_RSS_KIB = 300 * 1024;
/** On a large machine V8 lets garbage lie. What is really needed shows where it may not, and a batch must do with it. */
const SMALL_HEAP = '--max-semi-space-size=4 --max-old-space-size=128';
/** 10 tokens in and 8 out, at half of 0.15 and 0.60 USD a million. */
const LINE_NANO_USD = 3_150n;

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
/** Settles when the gateway that was killed last is there again. */
let restarted: Promise<void> = Promise.resolve();
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
    env: { LOG_LEVEL: 'warn', NODE_OPTIONS: SMALL_HEAP },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const connect = (apiKey: string): OpenAI => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });

const line = (custom_id: string, body: object = {}) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: MODEL, messages: [{ role: 'user', content: `Say ${custom_id}.` }], max_tokens: 16, ...body },
});

async function createBatch(openai: OpenAI, lines: readonly (object | string)[], headers: Record<string, string> = {}) {
  const text = lines.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('');
  const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'requests.jsonl'), purpose: 'batch' });
  return openai.batches.create(
    { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { of: 'acceptance' } },
    { headers },
  );
}

/** One transparent pixel. */
const PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const isOver = ({ status }: OpenAI.Batch): boolean => ['completed', 'failed', 'expired', 'cancelled'].includes(status);

/** Polls as a client does, over the death of the gateway too. */
async function waitFor(key: string, batchId: string, isReached: (batch: OpenAI.Batch) => boolean = isOver): Promise<OpenAI.Batch> {
  for (;;) {
    await restarted;
    const batch = await connect(key)
      .batches.retrieve(batchId)
      .catch((error: unknown) => {
        if (error instanceof OpenAI.APIConnectionError) return undefined;
        throw error;
      });
    if (batch && isReached(batch)) return batch;
    await pause(200);
  }
}

const Output = z.object({
  id: z.string().startsWith('batch_req_'),
  custom_id: z.string(),
  response: z
    .object({ status_code: z.number(), request_id: z.string(), receipt_id: z.string().optional(), body: z.record(z.string(), z.unknown()) })
    .nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

const Refused = z.looseObject({ error: z.looseObject({ param: z.string().nullable() }) });
const Made = z.looseObject({ id: z.string(), refund_receipt_id: z.string().nullable() });

async function linesOf(openai: OpenAI, fileId: string | null | undefined) {
  if (!fileId) return [];
  const text = await (await openai.files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((json) => Output.parse(JSON.parse(json)));
}

const customIdOf = ({ body }: RecordedRequest): string => /Say (\S+)\./.exec(JSON.stringify(body))?.[1] ?? '';

describe('the OpenAI SDK', () => {
  test('has a batch answered by the sandbox, from the upload to the output file', async () => {
    const openai = connect(gateway.bootstrap.test_api_key);
    const created = await createBatch(openai, [line('a'), line('b'), line('c')]);
    expect(created).toMatchObject({ object: 'batch', status: 'in_progress', request_counts: { total: 3 }, metadata: { of: 'acceptance' } });
    expect((created.expires_at ?? 0) - created.created_at).toBe(86_400);
    const batch = await waitFor(gateway.bootstrap.test_api_key, created.id);
    expect(batch).toMatchObject({ status: 'completed', model: MODEL });
    expect(batch).not.toHaveProperty('errors');
    expect(batch).not.toHaveProperty('error_file_id');
    expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
    const output = await linesOf(openai, batch.output_file_id);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['a', 'b', 'c']);
    for (const { response } of output) expect(response).toMatchObject({ status_code: 200, body: { object: 'chat.completion' } });
    expect((await openai.batches.list({ limit: 1 })).data.map(({ id }) => id)).toEqual([batch.id]);
    expect(batch.usage?.total_tokens).toBe((batch.usage?.input_tokens ?? 0) + (batch.usage?.output_tokens ?? 0));
  });

  test.each<[OpenAI.BatchCreateParams['endpoint'], object, object]>([
    ['/v1/responses', { model: MODEL, input: 'Hello', max_output_tokens: 16 }, { object: 'response' }],
    ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello', max_tokens: 16 }, { object: 'text_completion' }],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }, { object: 'list' }],
    ['/v1/moderations', { model: 'omni-moderation-latest', input: 'Hello' }, { results: [expect.anything()] }],
    ['/v1/images/generations', { model: 'gpt-image-1', prompt: 'A page' }, { data: [{ b64_json: expect.any(String) }] }],
    [
      '/v1/images/edits',
      { model: 'gpt-image-1', prompt: 'A page', images: [{ image_url: PICTURE }] },
      { data: [{ b64_json: expect.any(String) }] },
    ],
  ])('has lines of %s answered, each with a receipt at the batch’s price', async (endpoint, body, answer) => {
    const openai = connect(gateway.bootstrap.test_api_key);
    const text = JSON.stringify({ custom_id: 'one', method: 'POST', url: endpoint, body });
    const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'requests.jsonl'), purpose: 'batch' });
    const created = await openai.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h' });
    expect(created.errors).toBeUndefined();
    const batch = await waitFor(gateway.bootstrap.test_api_key, created.id);
    const [{ response } = { response: null }] = await linesOf(openai, batch.output_file_id);
    expect(response).toMatchObject({ status_code: 200, body: answer });
    const receipt = await vi.waitUntil(() => verifiedReceipt(gateway, response?.receipt_id ?? '').catch(() => undefined), {
      timeout: 120_000,
    });
    expect(receipt).toMatchObject({ kind: 'batch_line', endpoint });
  });

  test('has videos begun, each charged at half the price once, and given back where it fails', async () => {
    const openai = connect(gateway.bootstrap.test_api_key);
    const video = (custom_id: string, prompt: string) => ({ custom_id, method: 'POST', url: '/v1/videos', body: { prompt, seconds: '4' } });
    const requests = [video('good', 'A ledger'), video('bad', '[fail]')].map((one) => JSON.stringify(one)).join('\n');
    const file = await openai.files.create({ file: await toFile(Buffer.from(requests), 'requests.jsonl'), purpose: 'batch' });
    const { id } = await openai.batches.create({ input_file_id: file.id, endpoint: '/v1/videos', completion_window: '24h' });
    const batch = await waitFor(gateway.bootstrap.test_api_key, id);
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
    const receiptOf = (receiptId: string) =>
      vi.waitUntil(() => verifiedReceipt(gateway, receiptId).catch(() => undefined), { timeout: 120_000 });
    for (const { custom_id, response } of await linesOf(openai, batch.output_file_id)) {
      const begun = Made.parse(response?.body);
      const ended = await vi.waitUntil(
        async () => {
          const seen = await openai.videos.retrieve(begun.id);
          return seen.status === 'completed' || seen.status === 'failed' ? seen : undefined;
        },
        { timeout: 120_000, interval: 500 },
      );
      expect(ended.status).toBe(custom_id === 'good' ? 'completed' : 'failed');
      const charged = { kind: 'batch_line', price_factor: '0.5', usage: { video_seconds: 4 }, cost_nano_usd: '200000000' };
      expect(await receiptOf(response?.receipt_id ?? '')).toMatchObject(charged);
      if (custom_id === 'good') continue;
      const refundId = await vi.waitUntil(async () => Made.parse(await openai.videos.retrieve(begun.id)).refund_receipt_id, {
        timeout: 120_000,
        interval: 500,
      });
      expect(await receiptOf(refundId)).toMatchObject({ kind: 'refund', cost_nano_usd: '200000000' });
    }
  });

  test('reports every line that cannot be told from others, and nothing runs', async () => {
    const { key } = await account.createKey();
    const wrong = [line('a'), '{"custom_id":', { ...line('b'), custom_id: undefined }, line('a')];
    const batch = await createBatch(connect(key), wrong);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ line: number, code }) => [number, code])).toEqual([
      [2, 'invalid_json_line'],
      [3, 'missing_required_parameter'],
      [4, 'duplicate_custom_id'],
    ]);
    expect(upstream.requests).toHaveLength(0);
  });

  test('has each line that is wrong fail by itself, as the request would, and runs the others', async () => {
    const { key } = await account.createKey();
    const openai = connect(key);
    const lines = [
      line('a'),
      { ...line('b'), method: 'GET' },
      { ...line('c'), url: '/v1/embeddings' },
      line('d', { model: 'no-such-model' }),
      line('e', { stream: true }),
      line('f', { Max_Tokens: 100_000 }),
      line('g', { options: { num_predict: 100_000 } }),
    ];
    const batch = await waitFor(key, (await createBatch(openai, lines)).id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 7, completed: 1, failed: 6 } });
    const refused = (await linesOf(openai, batch.error_file_id)).map(({ custom_id, response }) => [
      custom_id,
      response?.status_code,
      Refused.parse(response?.body).error.param,
    ]);
    expect(refused).toEqual([
      ['b', 400, 'method'],
      ['c', 400, 'url'],
      ['d', 404, 'model'],
      ['e', 400, 'stream'],
      ['f', 400, 'Max_Tokens'],
      ['g', 400, 'options.num_predict'],
    ]);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is refused at once what its key cannot pay, with the numbers', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '0.0001' });
    const openai = connect(key);
    const refusal = await createBatch(
      openai,
      Array.from({ length: 20 }, (_, index) => line(`${index}`)),
    ).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 402, code: 'insufficient_quota' });
    expect((await openai.batches.list()).data.filter(({ status }) => status !== 'failed' && status !== 'completed')).toEqual([]);
    expect(upstream.requests).toHaveLength(0);
  });
});

test('what a provider refuses is in the error file and costs nothing; what it cannot do now is asked again', async () => {
  const { key, key_id } = await account.createKey({ monthly_cap_usd: '1' });
  const openai = connect(key);
  const tries = new Map<string, number>();
  upstream.script((request) => {
    const id = customIdOf(request);
    tries.set(id, (tries.get(id) ?? 0) + 1);
    if (id === 'refused')
      return { status: 400, body: { error: { message: 'No.', type: 'invalid_request_error', code: null, param: null } } };
    if (id === 'busy' && tries.get(id) === 1) return steps.rateLimited({ seconds: 1 });
    if (id === 'broken' && tries.get(id) === 1) return steps.serverError();
    return undefined;
  });
  const created = await createBatch(
    openai,
    ['fine', 'refused', 'busy', 'broken'].map((id) => line(id)),
  );
  const batch = await waitFor(key, created.id);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 4, completed: 3, failed: 1 } });
  const [failed] = await linesOf(openai, batch.error_file_id);
  expect(failed).toMatchObject({ custom_id: 'refused', response: { status_code: 400, body: { error: { message: 'No.' } } } });
  await expect.poll(async () => (await account.usage({ key_id })).total.cost_usd).toBe(usd(3n * LINE_NANO_USD));
});

test('a cancelled batch begins no further line, and gives what is answered', async () => {
  const { key } = await account.createKey();
  const openai = connect(key);
  upstream.script(() => ({ delayMs: 300 }));
  const created = await createBatch(
    openai,
    Array.from({ length: 200 }, (_, index) => line(`${index}`)),
  );
  await waitFor(key, created.id, ({ request_counts }) => (request_counts?.completed ?? 0) > 0);
  expect((await openai.batches.cancel(created.id)).status).toBe('cancelling');
  const batch = await waitFor(key, created.id);
  expect(batch.status).toBe('cancelled');
  const [output, errors] = [await linesOf(openai, batch.output_file_id), await linesOf(openai, batch.error_file_id)];
  expect(output.length).toBe(upstream.requests.length);
  expect(output.length + errors.length).toBe(200);
  expect(new Set(errors.map(({ error }) => error?.code))).toEqual(new Set(['batch_cancelled']));
  expect((await openai.batches.cancel(created.id)).status).toBe('cancelled');
});

test('the lines of a key that is revoked fail, and say so', async () => {
  const { key, key_id } = await account.createKey();
  const other = await account.createKey();
  upstream.script(() => ({ delayMs: 300 }));
  const created = await createBatch(
    connect(key),
    Array.from({ length: 200 }, (_, index) => line(`${index}`)),
  );
  await waitFor(key, created.id, ({ request_counts }) => (request_counts?.completed ?? 0) > 0);
  await account.revoke(key_id);
  const batch = await waitFor(other.key, created.id);
  expect(batch.status).toBe('completed');
  const errors = await linesOf(connect(other.key), batch.error_file_id);
  expect(errors.length).toBe(200 - (batch.request_counts?.completed ?? 0));
  expect(errors.at(-1)?.error?.code).toBe('invalid_credentials');
});

/** The most that a process has had of memory so far, KiB (proc(5)). */
const peakOf = (pid: number | undefined): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test(`${LINES} lines through a worker that is killed ${KILLS} times: each once in a file, each call settled once`, async () => {
  // So that all its lives know of this batch alone.
  await gateway.stop();
  await gateway.start();
  const { key, key_id } = await account.createKey({ monthly_cap_usd: '10' });
  let [calls, answered, kills] = [0, 0, 0];
  const peaks: number[] = [];
  upstream.script((request) => {
    calls += 1;
    if (kills < KILLS && calls >= ((kills + 1) * LINES) / (KILLS + 1)) {
      kills += 1;
      peaks.push(peakOf(gateway.process.pid));
      restarted = gateway.kill().then(() => gateway.start());
    }
    const isRefused = Number(customIdOf(request).slice(1)) % 100 === 99;
    if (!isRefused) answered += 1;
    return isRefused ? { status: 400, body: { error: { message: 'No.', type: 'invalid_request_error', code: null, param: null } } } : {};
  });
  const startedTick = performance.now();
  const created = await createBatch(
    connect(key),
    Array.from({ length: LINES }, (_, index) => line(`n${index}`)),
  );
  const batch = await waitFor(key, created.id);
  const tookMs = performance.now() - startedTick;
  peaks.push(peakOf(gateway.process.pid));
  expect(kills).toBe(KILLS);

  const openai = connect(key);
  const failures = LINES / 100;
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: LINES, completed: LINES - failures, failed: failures } });
  const [output, errors] = [await linesOf(openai, batch.output_file_id), await linesOf(openai, batch.error_file_id)];
  expect([output.length, errors.length]).toEqual([LINES - failures, failures]);
  const all = [...output, ...errors];
  expect(new Set(all.map(({ custom_id }) => custom_id)).size).toBe(LINES);

  const requestIds = all.map(({ response }) => response?.request_id ?? '');
  await using ledger = await openLedgerAudit(gateway);
  await expect.poll(async () => (await ledger.entriesOf(requestIds)).size).toBe(LINES);
  const entries = await ledger.entriesOf(requestIds);
  // A call that its worker did not live to hear of is settled as well, at the most that it can have cost, and its line runs again.
  for (const { records, abandoned, postings, receipts } of entries.values())
    expect([records - abandoned, postings, receipts]).toEqual([1, records, records]);
  const lost = [...entries.values()].map(({ abandoned }) => abandoned).reduce((one, other) => one + other, 0);
  expect(lost).toBeLessThanOrEqual(KILLS * LINES_AT_ONCE);
  const costs = (those: typeof all) =>
    those
      .map(({ response }) => entries.get(response?.request_id ?? ''))
      .filter((entry) => entry?.abandoned === 0)
      .map((entry) => entry?.cost);
  expect(new Set(costs(output))).toEqual(new Set([LINE_NANO_USD]));
  expect(new Set(costs(errors))).toEqual(new Set([0n]));
  await expect.poll(() => ledger.faults()).toEqual([]);
  const receipt = await verifiedReceipt(gateway, output[0]?.response?.receipt_id ?? '');
  expect(receipt).toMatchObject({ kind: 'batch_line', price_factor: '0.5', cost_nano_usd: String(LINE_NANO_USD) });

  const settled = sum([...entries.values()].map(({ cost }) => cost));
  // The bills of the provider, also for calls whose answer was lost.
  expect(settled).toBeGreaterThanOrEqual(BigInt(answered) * LINE_NANO_USD);
  const spent = usd(settled);
  const budget = await fetch(`${gateway.url}/v1/keys/${key_id}/budget`, { headers: account.session });
  expect(await budget.json()).toMatchObject({ spent_usd: spent, held_usd: '0' });
  process.stdout.write(
    `${LINES} lines in ${Math.round(tookMs / 1000)} s, ${calls} calls, peaks of memory ${peaks.map((kib) => Math.round(kib / 1024)).join(', ')} MiB\n`,
  );
  expect(Math.max(...peaks)).toBeLessThan(MOST_RSS_KIB);
});
