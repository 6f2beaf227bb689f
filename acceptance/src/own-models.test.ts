import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiscoveryReport, KeyCreatedResponse, ModelList, ModelPrice, PriceList, UserResponse } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { publishedPrices } from '../../cli/src/receipts/published-prices.ts';
import { Account } from './account.ts';
import { type Answered, ask, completionOf, HELLO, header, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';
import { verifiedReceipt } from './ledger-audit.ts';
import { admin } from './operator.ts';

/** A gateway in front of a local server with two unknown models. */
const [LLAMA, QWEN] = ['llama3.1:8b', 'qwen2.5:7b'] as const;

/** More than a month of the plan that everybody is on who buys none, and than its minute. */
const [MANY, AT_ONCE] = [1_100, 20] as const;

let folder = '';
let upstream: FakeUpstream;
let gateway: Gateway;
let key = '';
let session: Record<string, string> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-models-'));
  writeModels();
  upstream = await startFakeUpstream();
  upstream.serveModels(LLAMA, QWEN);
  gateway = await Gateway.start({
    providers: [{ name: 'my-vllm', base_url: upstream.url }],
    env: { MODELS_FILE: join(folder, 'models.json') },
  });
  key = (await (await Account.signUp(gateway, { plan: 'enterprise' })).createKey()).key;
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  session = { authorization: `Bearer ${UserResponse.parse(await call('POST', '/v1/users/login', { email, password })).session?.token}` };
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

const writeModels = (...models: object[]) => writeFileSync(join(folder, 'models.json'), JSON.stringify({ models }));

async function call(method: string, path: string, body?: object, headers: Record<string, string> = session): Promise<unknown> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
}

const setPrice = async (model: string, input_tokens: string, output_tokens: string) =>
  ModelPrice.parse(await call('POST', `/v1/admin/models/${model}/prices`, { usd_per_million: { input_tokens, output_tokens } })).pricing;
const chat = (model: string): Promise<Answered> => ask(gateway, key, { ...HELLO, model });
const served = async () =>
  ModelList.parse(await call('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` })).data.map(({ id }) => id);
/** As soon as it is signed, and compared with what is published. */
const receiptOf = (answered: Answered) =>
  vi.waitFor(
    async () => {
      const prices = publishedPrices(await call('GET', '/v1/prices', undefined, {}));
      return verifiedReceipt(gateway, header(answered, 'x-receipt-id'), { prices });
    },
    { timeout: 120_000 },
  );

test('models that are found need one command each before they are called, held, settled and on a receipt', async () => {
  const refused = problemOf(await chat(LLAMA));
  expect([refused.status, refused.code]).toEqual([400, 'unpriced_feature']);
  expect(refused.detail).toContain(`npm run admin -- price ${LLAMA} --input USD --output USD`);
  expect(upstream.requests).toHaveLength(0);

  const first = await setPrice(LLAMA, '2', '4');
  const answered = await chat(LLAMA);
  expect([answered.status, header(answered, 'x-model-served'), header(answered, 'x-provider')]).toEqual([200, LLAMA, 'my-vllm']);
  // Ten tokens in at 2 USD and eight out at 4 USD a million.
  expect(completionOf(answered).usage.cost).toBe(0.000052);
  const receipt = await receiptOf(answered);
  expect(receipt).toMatchObject({ model_requested: LLAMA, model_served: LLAMA, price_version: first.version, cost_nano_usd: '52000' });

  const second = await setPrice(LLAMA, '20', '40');
  expect(Date.parse(second.effective_from)).toBeGreaterThan(Date.now());
  const dearer = await vi.waitFor(
    async () => {
      const later = await chat(LLAMA);
      expect(completionOf(later).usage.cost).toBe(0.00052);
      return later;
    },
    { timeout: 120_000, interval: 100 },
  );
  expect(await receiptOf(dearer)).toMatchObject({ price_version: second.version, cost_nano_usd: '520000' });
  expect(await receiptOf(answered)).toEqual(receipt);
  const published = PriceList.parse(await call('GET', '/v1/prices', undefined, {})).data.filter(({ id }) => id === LLAMA);
  expect(published.map(({ pricing }) => pricing.version)).toEqual([second.version, first.version]);
});

test('the operator’s account is refused none of more requests than the plans for sale begin with', async () => {
  const { key: own } = KeyCreatedResponse.parse(await call('POST', '/v1/keys', { name: 'own', livemode: true }));
  let begun = 0;
  const statuses: number[] = [];
  const caller = async () => {
    while (begun++ < MANY) statuses.push((await ask(gateway, own, { ...HELLO, model: LLAMA })).status);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  expect([statuses.length, new Set(statuses)]).toEqual([MANY, new Set([200])]);
});

test('a model of one’s own may cost nothing, and is called under the name of its provider, too', async () => {
  await setPrice(QWEN, '0', '0');
  const answered = await chat(`my-vllm/${QWEN}`);
  expect([answered.status, completionOf(answered).usage.cost]).toEqual([200, 0]);
  expect(upstream.requests.at(-1)?.body).toMatchObject({ model: QWEN });
  expect(await receiptOf(answered)).toMatchObject({ model_requested: `my-vllm/${QWEN}`, model_served: QWEN, cost_nano_usd: '0' });
  expect(await served()).toEqual([LLAMA, QWEN]);
});

test('a model that its server no longer lists is not served, and is again once it does', async () => {
  upstream.serveModels(LLAMA);
  const { providers } = DiscoveryReport.parse(await call('POST', '/v1/admin/models/discover', {}));
  expect(providers).toEqual([{ provider: 'my-vllm', found: [LLAMA], without_price: [], error: null }]);
  expect(problemOf(await chat(QWEN)).code).toBe('no_provider_configured');
  upstream.serveModels(LLAMA, QWEN);
  await call('POST', '/v1/admin/models/discover', {});
  expect((await chat(QWEN)).status).toBe(200);
});

/** The operator's command in an answer, typed on the gateway's machine: as it is there it sets no price, with figures it does. */
async function pasted(detail: string) {
  const [, command = ''] = /`npm run admin -- ([^`]*)`/.exec(detail) ?? [];
  const asPrinted = await admin(command.split(' '), gateway.places);
  expect(asPrinted).toMatchObject({ exitCode: 64, stderr: expect.stringContaining('must be USD per million') });
  const priced = command.replace('--input USD', '--input 0.15').replace('--output USD', '--output 0.60');
  return admin(priced.split(' '), gateway.places);
}

test('the command in the answer about an unknown model makes it one that is served', async () => {
  const name = 'llama3.1:8';
  const { code, detail } = problemOf(await chat(name));
  expect(code).toBe('model_not_found');
  expect(detail).toContain(`Did you mean ${LLAMA}?`);
  const { stdout, exitCode } = await pasted(detail);
  expect([stdout, exitCode]).toEqual([expect.stringMatching(/^llama3\.1:8\tadmin\tinput_tokens 0\.15, output_tokens 0\.6 /), 0]);
  await vi.waitFor(async () => expect((await chat(name)).status).toBe(200), { timeout: 120_000, interval: 50 });
  const answered = await chat(name);
  expect(await receiptOf(answered)).toMatchObject({ model_served: name, cost_nano_usd: '6300' });

  expect(await admin(['model-remove', name], gateway.places)).toMatchObject({ exitCode: 0 });
  await vi.waitFor(async () => expect(problemOf(await chat(name)).code).toBe('model_not_found'), { timeout: 120_000, interval: 50 });
  const published = PriceList.parse(await call('GET', '/v1/prices', undefined, {})).data.filter(({ id }) => id === name);
  expect(published).toHaveLength(1);
  expect(await receiptOf(answered)).toMatchObject({ price_version: published[0]?.pricing.version });
});

test('the command in the answer about a model without a price gives it one', async () => {
  const name = 'newcomer:1b';
  upstream.serveModels(LLAMA, QWEN, name);
  await call('POST', '/v1/admin/models/discover', {});
  const { code, detail } = problemOf(await chat(name));
  expect(code).toBe('unpriced_feature');
  expect(await pasted(detail)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('newcomer:1b\tdiscovery\tinput_tokens 0.15') });
  await vi.waitFor(async () => expect((await chat(name)).status).toBe(200), { timeout: 120_000, interval: 50 });
  const { stdout } = await admin(['models'], gateway.places);
  expect(stdout).toContain(`${LLAMA}\tdiscovery\t`);
  expect(stdout).toMatch(/\n\d+ models are as the shipped list has them/);
});

test('a line that is not one is refused with what is wrong in it, and changes nothing', async () => {
  expect(await admin(['price', LLAMA, '--input', '1'], gateway.places)).toMatchObject({
    ...{ exitCode: 1, stdout: '', stderr: expect.stringContaining('--output') },
  });
  expect(await admin(['price', LLAMA, '--inptu', '1'], gateway.places)).toMatchObject({ exitCode: 64, stdout: '' });
  expect(await admin(['price', LLAMA], gateway.places)).toMatchObject({ exitCode: 64, stderr: expect.stringContaining('--input 0.15') });
});

test('MODELS_FILE is read again at SIGHUP; what is wrong in it changes nothing', async () => {
  const price = { usd_per_million: { input_tokens: '1', output_tokens: '1' } };
  const hup = () => process.kill(gateway.process.pid ?? 0, 'SIGHUP');
  writeModels({ id: 'house', provider: 'my-vllm', provider_model: LLAMA, price });
  hup();
  await vi.waitFor(async () => expect((await call('GET', '/v1/models/house')) as object).toMatchObject({ owned_by: 'my-vllm' }), {
    timeout: 120_000,
  });
  writeModels({ id: 'other', price }, { id: 'house', kind: 'smell' });
  hup();
  await vi.waitFor(() => expect(gateway.process.output).toContain('models.1.kind'), { timeout: 120_000 });
  expect(await call('GET', '/v1/models/other')).toMatchObject({ code: 'model_not_found' });
  expect(await call('GET', '/v1/models/house')).toMatchObject({ owned_by: 'my-vllm' });
});
