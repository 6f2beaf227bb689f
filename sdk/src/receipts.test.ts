import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { policyLog } from '../../packages/receipts/scripts/policy-log.ts';
import { successionVectors } from '../../packages/receipts/scripts/succession-vectors.ts';
import { entryAt, INDEX } from '../../packages/receipts/scripts/vector-log.ts';
import { current, issue, payloadWith } from '../../packages/receipts/scripts/vector-receipts.ts';
import { agentDocument } from '../testing/fixtures.ts';
import { startStubGateway } from '../testing/stub-gateway.ts';
import { DeclarationsContradictedError, LogForkError, Tallygate, WitnessesUndeclaredError } from './index.ts';

const vector = (name: string) => JSON.parse(readFileSync(new URL(`../../packages/receipts/vectors/${name}.json`, import.meta.url), 'utf8'));
const { receipt } = vector('good/plain');
const keySet = vector('keys');

/** As the log answers for policies, keys, and retired keys. */
const thrice = (json: object) => [{ json }, { json }, { json }];

it('verifies with keys at hand without asking anybody', async () => {
  const offline = new Tallygate({ apiKey: null, baseUrl: 'http://127.0.0.1:9' });
  expect(await offline.receipts.verify(receipt, keySet)).toMatchObject({ valid: true, payload: receipt.payload });
  expect(await offline.receipts.verify(vector('broken/changed-price').receipt, keySet)).toMatchObject({ valid: false });
});

it('fetches the keys when it is given none, and demands the witnesses that the service lists', async () => {
  await using gateway = await startStubGateway();
  const [witness = ''] = vector('broken/log-witnessed-before-completion').witnesses;
  const none = policyLog(null);
  gateway.script({ json: keySet }, { json: agentDocument(null) }, ...thrice(none.page), { json: keySet });
  const unwatched = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  expect(await unwatched.receipts.verify(receipt)).toMatchObject({ valid: true });
  expect(await unwatched.receipts.verify(receipt)).toMatchObject({ valid: true });
  const [keys, document, declared] = ['/.well-known/vaas-keys.json', '/.well-known/agent.json', '/v1/log/declarations'];
  expect(gateway.requests.map(({ path }) => path)).toEqual([keys, document, declared, declared, declared, keys]);
  const { leaves, page: policy } = policyLog(`1 of ${witness}`);
  const receiptIn = (isWitnessed: boolean) => issue(payloadWith(), current, entryAt(leaves, INDEX, { isWitnessed }));
  gateway.script({ json: keySet }, { json: agentDocument(`1 of ${witness}`) }, ...thrice(policy), { json: keySet });
  const watched = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  expect(await watched.receipts.verify(receiptIn(true))).toMatchObject({ valid: true });
  expect(await watched.receipts.verify(receiptIn(false))).toMatchObject({ valid: false, code: 'too_few_witnesses' });
});

it.each([
  ['none, where its log declares some', null, '1 of a.example+1'],
  ['others than its log declares', '1 of b.example+2', '1 of a.example+1'],
])('throws where the service lists witnesses that its log does not declare: %s', async (_, listed, declared) => {
  await using gateway = await startStubGateway();
  const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  gateway.script({ json: keySet }, { json: agentDocument(listed) }, ...thrice(policyLog(declared).page));
  await expect(receipts.verify(receipt)).rejects.toThrow(WitnessesUndeclaredError);
});

it('throws where a key or policy that the log declares is left out of its list', async () => {
  await using gateway = await startStubGateway();
  const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  const { page } = policyLog(null);
  const counted = { ...page, declared: { ...page.declared, key_retired: 1 } };
  gateway.script({ json: keySet }, { json: agentDocument(null) }, ...thrice(counted));
  await expect(receipts.verify(receipt)).rejects.toThrow(DeclarationsContradictedError);
});

it('throws where the log that declares a new key or a policy is not the one that was shown before', async () => {
  await using gateway = await startStubGateway();
  const reader = () => new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl }).receipts;
  const ofPolicy = reader();
  await ofPolicy.remember(policyLog(null).page.checkpoint);
  gateway.script({ json: policyLog('1 of a.example+1').page });
  await expect(ofPolicy.declarationsSeen(['policy'], keySet)).rejects.toThrow(LogForkError);
  const { kept, published, log } = successionVectors['rotation'] ?? {};
  const { log: other } = successionVectors['unsigned'] ?? {};
  const ofKeys = reader();
  await ofKeys.remember(Object(other).checkpoint);
  gateway.script({ json: { keys: kept } }, { json: { keys: published } }, { json: log }, { json: log });
  await ofKeys.keysSeen();
  await expect(ofKeys.keysSeen()).rejects.toThrow(LogForkError);
});

it('sees in text what an object can no longer show', async () => {
  const { text, expected_code } = vector('broken/duplicate-member');
  const tallygate = new Tallygate({ apiKey: null });
  expect(await tallygate.receipts.verify(text, keySet)).toMatchObject({ valid: false, code: expected_code });
});

const item = {
  object: 'receipt.item',
  id: receipt.id,
  kind: 'usage',
  request_id: receipt.payload.request_id,
  endpoint: receipt.payload.endpoint,
  model: receipt.payload.model_served,
  run_id: null,
  livemode: true,
  outcome: 'completed',
  cost_usd: '0.000384',
  refund_of: null,
  started_at: receipt.payload.started_at,
  completed_at: receipt.payload.completed_at,
  log_index: 5,
};
const page = (data: (typeof item)[], next_cursor: string | null) => ({ data, has_more: next_cursor !== null, next_cursor });

it('lists every receipt, page after page', async () => {
  await using gateway = await startStubGateway();
  const second = { ...item, id: '6a1d2b63-8e4c-4f1a-8b97-3c2a7d4e5f60' };
  gateway.script({ json: page([item], 'next') }, { json: page([second], null) });
  const tallygate = new Tallygate({ apiKey: 'tg_test_x', baseUrl: gateway.baseUrl });
  const found: string[] = [];
  for await (const { id } of tallygate.receipts.list({ month: '2026-11', kind: 'usage', livemode: false })) found.push(id);
  expect(found).toEqual([item.id, second.id]);
  expect(gateway.requests.map(({ query }) => query)).toEqual([
    { month: '2026-11', kind: 'usage', livemode: 'false' },
    { month: '2026-11', kind: 'usage', livemode: 'false', cursor: 'next' },
  ]);
});

it('fetches an export and tiles as they come', async () => {
  await using gateway = await startStubGateway();
  gateway.script({ text: '{"object":"receipt_export"}\n' }, { text: 'hashes' });
  const tallygate = new Tallygate({ apiKey: 'tg_test_x', baseUrl: gateway.baseUrl });
  expect(await (await tallygate.receipts.export({ month: '2026-11' })).text()).toBe('{"object":"receipt_export"}\n');
  expect(await (await tallygate.receipts.tile('tile/0/000')).text()).toBe('hashes');
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/v1/receipts/export', '/v1/log/tile/0/000']);
});

it('verifies the invoice of a month, and says why one that was changed is not valid', async () => {
  const offline = new Tallygate({ apiKey: null, baseUrl: 'http://127.0.0.1:9' });
  const { invoice } = vector('invoices/by-invoice');
  expect(await offline.receipts.verifyInvoice(invoice, keySet)).toMatchObject({ valid: true, payload: invoice.payload });
  expect(await offline.receipts.verifyInvoice(vector('invoices/changed-after-signing').invoice, keySet)).toMatchObject({ valid: false });
});
