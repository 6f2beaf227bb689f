import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { CohereClient, CohereClientV2, CohereError } from 'cohere-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';

const QUERY = 'What does the ledger sum to?';
const DOCUMENTS = ['The weather is fine.', 'The ledger sums to zero.', 'A ledger.'];
const SEARCHES = 'rerank-v4.0-fast';
const TOKENS = 'jina-reranker-v2-base-multilingual';

let fake: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'jina', base_url: fake.url, models: [TOKENS] }],
    env: { COHERE_API_KEY: 'cohere-secret-key', COHERE_BASE_URL: new URL(fake.url).origin },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  key = (await account.createKey()).key;
});
beforeEach(() => fake.reset());
afterAll(async () => {
  await gateway?.remove();
  await fake?.close();
});

const clientOf = (token = gateway.bootstrap.test_api_key) => new CohereClientV2({ token, environment: gateway.url, maxRetries: 0 });

describe('Cohere’s own client', () => {
  test('ranks at the sandbox, by the second version of its API', async () => {
    const { results, meta } = await clientOf().rerank({ model: SEARCHES, query: QUERY, documents: DOCUMENTS, topN: 2 });
    expect(results.map(({ index }) => index)).toEqual([1, 2]);
    expect(results[0]?.relevanceScore).toBeGreaterThan(results[1]?.relevanceScore ?? 1);
    expect(meta?.billedUnits?.searchUnits).toBe(1);
  });

  test('ranks by the first version too, objects with their fields, and gets them back', async () => {
    const client = new CohereClient({ token: gateway.bootstrap.test_api_key, environment: gateway.url, maxRetries: 0 });
    const documents = DOCUMENTS.map((text, id) => ({ id: String(id), text }));
    const ranked = await client.rerank({ model: SEARCHES, query: QUERY, documents, topN: 1, returnDocuments: true });
    expect(ranked.results).toMatchObject([{ index: 1, document: { id: '1', text: DOCUMENTS[1] } }]);
  });

  test('is charged what the provider bills, to the nano-dollar, with a receipt for each ranking', async () => {
    const documents = Array.from({ length: 150 }, (_, at) => `Document ${at}`);
    const rows = [
      // 2 searches at 2 USD a thousand; 150 documents of ten tokens at 0.05 USD a million.
      { model: SEARCHES, cost: 4_000_000n, usage: { search_units: 2 } },
      { model: TOKENS, cost: 75_000n, usage: { input_tokens: 1_500 } },
    ];
    for (const { model, cost, usage } of rows) {
      const { rawResponse } = await clientOf(key).rerank({ model, query: QUERY, documents }).withRawResponse();
      const trace = await account.trace(rawResponse.headers.get('x-request-id') ?? '');
      expect(trace).toMatchObject({ outcome: 'completed', endpoint: '/v1/rerank', estimated: false, usage });
      const receipt = await verifiedReceipt(gateway, trace.receipt_id);
      expect(receipt).toMatchObject({ usage, cost_nano_usd: cost.toString() });
    }
    await using ledger = await openLedgerAudit(gateway);
    expect(await ledger.faults()).toEqual([]);
  });

  test('reads refusals as its own errors: a key, a model, a provider that fails', async () => {
    const asked = (token: string | undefined, model: string) =>
      clientOf(token)
        .rerank({ model, query: QUERY, documents: DOCUMENTS })
        .catch((error: unknown) => (error instanceof CohereError ? error.statusCode : error));
    expect(await asked('tg_live_wrong', SEARCHES)).toBe(401);
    expect(await asked(key, 'no-such-model')).toBe(404);
    fake.script({ status: 400, body: { message: 'invalid request: query is too long' } });
    expect(await asked(key, SEARCHES)).toBe(400);
  });

  test('is refused by a cap that the worst case does not fit, before a provider is asked', async () => {
    const capped = await account.createKey({ monthly_cap_usd: '0.001' });
    const ranking = clientOf(capped.key).rerank({ model: SEARCHES, query: QUERY, documents: DOCUMENTS });
    await expect(ranking).rejects.toMatchObject({ statusCode: 402, body: { code: 'budget_exceeded' } });
    expect(fake.requests).toEqual([]);
  });
});
