import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../testing/collect.ts';
import { refusal, storedBatch } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { AbortError, BudgetExceededError, Tallygate } from './index.ts';

let gateway: StubGateway;
let tallygate: Tallygate;
beforeEach(async () => {
  gateway = await startStubGateway();
  tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const order = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;

describe('batches', () => {
  it('are created once, in an agent run where they belong to one', async () => {
    gateway.script({ json: storedBatch('in_progress') });
    expect(await tallygate.batches.create(order, { agentRun: { id: 'run-1', maxBudgetUsd: '2' } })).toEqual(storedBatch('in_progress'));
    const [request] = gateway.requests;
    expect(request?.body).toEqual(order);
    expect(request?.headers).toMatchObject({
      'x-agent-run-id': 'run-1',
      'x-agent-max-budget': '2',
      'idempotency-key': expect.any(String),
    });
  });

  it('that do not fit a budget are refused, and not asked for again', async () => {
    gateway.script(refusal('budget_exceeded'));
    await expect(tallygate.batches.create(order)).rejects.toBeInstanceOf(BudgetExceededError);
    expect(gateway.requests).toHaveLength(1);
  });

  it('are listed over all pages', async () => {
    const page = (id: string, has_more: boolean) => ({
      json: { object: 'list', data: [{ ...storedBatch('completed'), id }], first_id: id, last_id: id, has_more },
    });
    gateway.script(page('batch_2', true), page('batch_1', false));
    expect((await collect(tallygate.batches.list({ limit: 1 }))).map(({ id }) => id)).toEqual(['batch_2', 'batch_1']);
    expect(gateway.requests[1]?.query).toEqual({ limit: '1', after: 'batch_2' });
  });

  it('are waited for until they are over', async () => {
    gateway.script({ json: storedBatch('validating') }, { json: storedBatch('in_progress') }, { json: storedBatch('completed') });
    const seen: string[] = [];
    const batch = await tallygate.batches.wait('batch_1', { pollMs: 1, onProgress: ({ status }) => seen.push(status) });
    expect([batch.status, seen]).toEqual(['completed', ['validating', 'in_progress', 'completed']]);
  });

  it('are waited for up to a time limit', async () => {
    gateway.script({ json: storedBatch('in_progress') });
    const abort = new AbortController();
    const waiting = tallygate.batches.wait('batch_1', { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(waiting).rejects.toBeInstanceOf(AbortError);
  });
});
