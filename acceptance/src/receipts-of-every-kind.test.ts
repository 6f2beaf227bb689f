import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { type ReceiptPayload, type ReceiptResponse, verifyPromise, verifyReceiptText } from '@tallygate/receipts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Terminal } from '../../cli/testing/terminal.ts';
import { table } from '../../scripts/markdown-table.ts';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { type Customer, KINDS, LIVE_MODELS, type Promised, signingKey, stepOf } from './testing/kinds-of-receipts.ts';
import { otherVerifiers } from './testing/other-verifiers.ts';

/** `npm run test:receipts` makes many. */
const OF_EACH_KIND = Number(process.env['RECEIPTS_OF_EACH_KIND'] ?? 1);
/** Where receipts, exports, invoices and keys stay, for a verifier of another hand. */
const KEPT_IN = process.env['RECEIPTS_KEPT_IN'];
const NOW_MS = Date.now();
const LATER_MS = NOW_MS + 32 * 86_400_000;
const MONTH = new Date(NOW_MS).toISOString().slice(0, 7);
const PATIENCE = { timeout: 240_000, interval: 200 };

/** The first requests of the month are covered, the next one in part, the others are charged. */
const PLAN = {
  ...{ plan_id: 'small', version: 1, name: 'Small', monthly_price_usd: '0', for_sale: false },
  quota: { requests: null, tokens: 100, images: 0, audio_seconds: 0, video_seconds: 0 },
  overage: { policy: 'invoice', ceiling_usd: '1000' },
  rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
  features: ['receipts', 'agent_runs', 'batches', 'auto_topup', 'anchoring', 'invoicing'],
};
/** Nothing is covered, all is paid from the balance. */
const PREPAID = {
  ...{ ...PLAN, plan_id: 'prepaid', name: 'Prepaid' },
  quota: { ...PLAN.quota, tokens: 0 },
  overage: { policy: 'balance', ceiling_usd: null },
};
const TOPPED_UP_USD = '25';
const STRIPE_SECRET = 'whsec_receipts';
const SCOPES: { scopes: ('inference' | 'account:read')[] } = { scopes: ['inference', 'account:read'] };

let folder: string;
let stripe: FakeStripe;
let upstreams: readonly FakeUpstream[] = [];
let gateway: Gateway;
let customer: Customer;
let keys: unknown;
/** The files of each kind, and of which promise they are. */
const made = new Map<string, Promised[]>();
const receiptFile = (id: string): string => join(folder, `${id}.json`);
const keysFile = (): string => join(folder, 'keys.json');

beforeAll(async () => {
  folder = KEPT_IN ?? mkdtempSync(join(tmpdir(), 'tallygate-receipts-'));
  mkdirSync(folder, { recursive: true });
  const plans = join(folder, 'plans.json');
  writeFileSync(plans, JSON.stringify({ default: 'small', plans: [PLAN, PREPAID] }));
  stripe = await startFakeStripe();
  upstreams = [await startFakeUpstream(), await startFakeUpstream()];
  for (const [at, upstream] of upstreams.entries()) upstream.script((asked) => stepOf(asked, at === 0 ? 'first' : 'second'));
  gateway = await Gateway.start({
    process: 'shared',
    // The first is asked first: what it fails at, the second answers.
    providers: upstreams.map(({ url }, at) => ({
      ...{ name: `provider-${at + 1}`, base_url: url, models: LIVE_MODELS, responses: true },
      weight: 1_000_000 ** (1 - at),
    })),
    env: {
      ...{ PLANS_FILE: plans, DISCONNECTED_TIMEOUT_MS: '2000' },
      ...{ STRIPE_SECRET_KEY: 'sk_live_receipts', STRIPE_WEBHOOK_SECRET: STRIPE_SECRET, STRIPE_API_HOST: stripe.url },
    },
  });
  stripe.addWebhook({ url: `${gateway.url}/v1/plans/webhooks/stripe`, secret: STRIPE_SECRET });
  customer = await signUp();
});
afterAll(async () => {
  await gateway?.remove();
  for (const upstream of upstreams) await upstream.close();
  await stripe?.close();
  if (KEPT_IN === undefined) rmSync(folder, { recursive: true, force: true });
});

async function signUp(): Promise<Customer> {
  const account = await Account.signUp(gateway, { plan: 'small' });
  const { privateKey, publicKey } = signingKey();
  const post = async (path: string, body: object, session = account.session) => {
    const headers = { ...session, 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.json();
  };
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  const { project_id } = (await post('/v1/projects', { name: 'Paris' })) as { project_id: string };
  const [live, sandbox, ofProject, signing] = await Promise.all([
    account.createKey(SCOPES),
    account.createKey({ ...SCOPES, livemode: false }),
    account.createKey({ ...SCOPES, project_id }),
    account.createKey({ ...SCOPES, signing_public_key: publicKey, require_signature: true }),
  ]);
  const operator = (await post('/v1/users/login', { email, password })) as { session: { token: string } };
  return {
    ...{ gateway, prepaid: await prepaidKey(), live: live.key, sandbox: sandbox.key, ofProject: ofProject.key },
    ...{ signing: { key: signing.key, privateKey }, operator: operator.session.token },
  };
}

/** A key of an account that has paid ahead. */
async function prepaidKey(): Promise<string> {
  const account = await Account.signUp(gateway, { plan: 'prepaid' });
  const { key } = await account.createKey(SCOPES);
  const asked = async (path: string, json?: object) => {
    const init = json && { method: 'POST', body: JSON.stringify(json) };
    const answer = await fetch(`${gateway.url}/v1/plans/${path}`, {
      ...init,
      headers: { ...account.session, 'content-type': 'application/json' },
    });
    return answer.json();
  };
  const { checkout_url } = (await asked('balance-checkout', { amount_usd: TOPPED_UP_USD })) as { checkout_url: string };
  stripe.pay(new URL(checkout_url).pathname.split('/').at(-1) ?? '');
  await vi.waitFor(async () => expect(await asked('billing-summary')).toMatchObject({ balance_usd: TOPPED_UP_USD }), PATIENCE);
  return key;
}

/** What anybody reads who knows the id, once it is in the log. */
async function keepReceipt(id: string): Promise<ReceiptResponse> {
  return vi.waitFor(async () => {
    const text = await (await fetch(`${gateway.url}/v1/receipts/${id}`)).text();
    expect(text).toContain('"state":"logged"');
    writeFileSync(receiptFile(id), text);
    return JSON.parse(text);
  }, PATIENCE);
}

test.concurrent.each(Object.entries(KINDS))('%s has a receipt that holds, and keeps its promise', async (kind, make) => {
  keys ??= await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).json();
  const all: Promised[] = [];
  for (let turn = 1; turn <= OF_EACH_KIND; turn += 1) all.push(...(await make(customer, turn)));
  made.set(kind, all);
  for (const { receiptId, promise, headers, requestSha256 } of all) {
    const receipt = verifyReceiptText(JSON.stringify(await keepReceipt(receiptId)), keys);
    expect(receipt).toMatchObject({ valid: true });
    if (requestSha256 !== undefined) expect(receipt).toMatchObject({ payload: { request_sha256: requestSha256 } });
    if (promise === undefined) continue;
    expect(verifyPromise(promise, keys, { receipt, now: Date.now(), ...(headers && { headers }) })).toMatchObject({ state: 'kept' });
    writeFileSync(join(folder, `${receiptId}.promise`), JSON.stringify({ promise, headers: headers && Object.fromEntries(headers) }));
  }
});

test('the invoice of the month follows from these receipts: by invoice, from the balance and of the sandbox', async () => {
  await gateway.stop();
  {
    await using ledger = await openLedgerAudit(gateway);
    await ledger.forgetTimers();
  }
  gateway.freezeAt(LATER_MS);
  await gateway.start();
  const terminal = new Terminal(gatewayAddress(), () => new Date(LATER_MS));
  for (const [mode, apiKey] of modes()) {
    const type = (...argv: string[]) => terminal.type(argv, { apiKey });
    expect(await type('receipts', 'keys')).toMatchObject({ exitCode: 0 });
    await vi.waitFor(async () => {
      const got = await type('invoices', 'get', MONTH, ...testFlag(mode), '-o', `${mode}.invoice.json`);
      expect(got).toMatchObject({ exitCode: 0 });
      expect(JSON.parse(terminal.files.get(`${mode}.invoice.json`) ?? '')).toMatchObject({ log: { state: 'logged' } });
    }, PATIENCE);
    await type('receipts', 'export', '--month', MONTH, '-o', `${mode}.jsonl`);
    expect(await type('receipts', 'verify', `${mode}.jsonl`, '--require-log')).toMatchObject({ exitCode: 0 });
    const files = [`${mode}.invoice.json`, '--export', `${mode}.jsonl`, '--offline'];
    expect(await type('invoices', 'verify', ...files, '--require-log')).toMatchObject({ exitCode: 0 });
    for (const name of [`${mode}.invoice.json`, `${mode}.jsonl`]) writeFileSync(join(folder, name), terminal.files.get(name) ?? '');
  }
  writeFileSync(keysFile(), await (await fetch(`${gateway.url}/.well-known/vaas-keys.json`)).text());
});

for (const { language, isMissing, verify } of otherVerifiers()) {
  test.skipIf(isMissing)(`the verifier in ${language} finds every receipt, export and invoice in order`, async () => {
    const ids = [...made.values()].flat().map(({ receiptId }) => receiptId);
    expect(await verify(keysFile(), ...ids.map(receiptFile))).toEqual({ isValid: true, said: 'valid\n' });
    for (const [mode] of modes()) {
      const files = [`${mode}.invoice.json`, `${mode}.jsonl`].map((name) => join(folder, name));
      expect(await verify(keysFile(), ...files)).toEqual({ isValid: true, said: 'valid\n' });
    }
  });
}

test('there is a receipt of every kind, of every outcome and every way to pay', () => {
  const payloads = [...made.values()].flat().map(({ receiptId }) => JSON.parse(readFileSync(receiptFile(receiptId), 'utf8')).payload);
  const found = (of: (payload: ReceiptPayload) => string) => [...new Set(payloads.map(of))].sort();
  expect(found(({ kind }) => kind)).toEqual(['batch_line', 'correction', 'media_job', 'refund', 'usage']);
  expect(found(({ outcome }) => outcome)).toEqual(['cached', 'cancelled', 'completed', 'cut', 'failed', 'refunded']);
  expect(found(({ payment }) => payment.funding)).toEqual(['balance', 'invoice', 'test']);
  expect(found(({ fallback }) => fallback)).toEqual(['deployment', 'model', 'none']);
  expect(payloads.some(({ payment }) => Object.keys(payment.covered).length > 0)).toBe(true);
  expect(payloads.some(({ waived_nano_usd }) => waived_nano_usd !== undefined)).toBe(true);
  expect(payloads.some(({ estimated }) => estimated)).toBe(true);
  const rows = [...made].map(([kind, all]) => [kind, `${all.length}`]);
  if (OF_EACH_KIND > 1) process.stdout.write(`${table([['kind', 'receipts'], ...rows, ['**all**', `${payloads.length}`]])}\n`);
});

const modes = () =>
  [
    ['live', customer.live],
    ['prepaid', customer.prepaid],
    ['sandbox', customer.sandbox],
  ] as const;
const testFlag = (mode: 'live' | 'prepaid' | 'sandbox') => (mode === 'sandbox' ? ['--test'] : []);
/** The gateway has another address after the month. */
const gatewayAddress = () => ({
  get baseUrl() {
    return gateway.url;
  },
});
