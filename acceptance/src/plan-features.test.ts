import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLAN_FEATURES, type PlanFeature, UserResponse } from '@tallygate/contract';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { HELLO, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

/** A gateway that sells, with a plan that has every feature, and for each feature one that has all but that. */
const WHOLE = 'whole';
const without = (feature: PlanFeature) => `no-${feature.replaceAll('_', '-')}`;
const planOf = (plan_id: string, features: readonly PlanFeature[]) => ({
  ...{ plan_id, version: 1, name: plan_id, monthly_price_usd: '0', for_sale: false, features },
  quota: { requests: null, tokens: null, images: null, audio_seconds: null, video_seconds: null },
  overage: { policy: 'none', ceiling_usd: null },
  rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
});
const PLANS = [
  planOf(WHOLE, PLAN_FEATURES),
  ...PLAN_FEATURES.map((one) =>
    planOf(
      without(one),
      PLAN_FEATURES.filter((other) => other !== one),
    ),
  ),
];

const EMBEDDING = 'text-embedding-3-small';
const RUN = { 'x-agent-run-id': 'a-run' };
const ANCHOR = { 'x-vaas-anchor': 'true' };

let folder = '';
let upstream: FakeUpstream;
let stripe: FakeStripe;
let gateway: Gateway;
let account: Account;
let live = '';
let testKey = '';
let inputFile = '';
let receiptId = '';
let admin: Record<string, string> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tallygate-plans-'));
  writeFileSync(join(folder, 'plans.json'), JSON.stringify({ default: WHOLE, plans: PLANS }));
  upstream = await startFakeUpstream();
  stripe = await startFakeStripe();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL, EMBEDDING] }],
    env: {
      ...{ PLANS_FILE: join(folder, 'plans.json'), LOG_LEVEL: 'warn' },
      ...{ STRIPE_SECRET_KEY: 'sk_live_features', STRIPE_WEBHOOK_SECRET: 'whsec_features', STRIPE_API_HOST: stripe.url },
    },
  });
  const { admin_email: email, admin_password: password } = gateway.bootstrap;
  const { session } = UserResponse.parse(JSON.parse((await send('POST', '/v1/users/login', { email, password })).text));
  admin = { authorization: `Bearer ${session?.token}` };
  account = await Account.signUp(gateway, { plan: WHOLE });
  const scopes = ['inference', 'account:read', 'billing:write'] as const;
  live = (await account.createKey({ scopes: [...scopes] })).key;
  testKey = (await account.createKey({ scopes: [...scopes], livemode: false })).key;
  inputFile = await uploaded(live);
  const { headers } = await send('POST', '/v1/chat/completions', HELLO, bearer(live));
  receiptId = headers.get('x-receipt-id') ?? '';
});
afterAll(async () => {
  await gateway?.remove();
  await stripe?.close();
  await upstream?.close();
  rmSync(folder, { recursive: true, force: true });
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function uploaded(key: string): Promise<string> {
  const form = new FormData();
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: HELLO };
  form.set('purpose', 'batch');
  form.set('file', new Blob([`${JSON.stringify(line)}\n`]), 'lines.jsonl');
  const answer = await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers: bearer(key), body: form });
  return (await answer.json()).id;
}

/** In effect at this gateway once its own entitlements say so; for a key that it has used before, when it hears of it, within a second. */
async function give(plan: string): Promise<void> {
  expect((await send('PUT', `/v1/admin/accounts/${account.accountId}/plan`, { plan_id: plan }, admin)).status).toBe(200);
  const planNow = async () => JSON.parse((await send('GET', '/v1/plans/entitlements', undefined, account.session)).text).plan_id;
  await expect.poll(planNow).toBe(plan);
}

type Probe = readonly [what: string, method: string, path: string, body?: () => object, headers?: Record<string, string>];

const batch = () => ({ input_file_id: inputFile, endpoint: '/v1/chat/completions', completion_window: '24h' });

/** Everywhere a feature is used. */
const USES: Readonly<Record<Exclude<PlanFeature, 'invoicing' | 'dedicated_capacity'>, readonly Probe[]>> = {
  receipts: [
    ['the list of receipts', 'GET', '/v1/receipts'],
    ['the export of receipts', 'GET', `/v1/receipts/export?month=${new Date().toISOString().slice(0, 7)}`],
  ],
  agent_runs: [
    ['a chat completion of a run', 'POST', '/v1/chat/completions', () => HELLO, RUN],
    ['a stream of a run', 'POST', '/v1/chat/completions', () => ({ ...HELLO, stream: true }), RUN],
    ['a response of a run', 'POST', '/v1/responses', () => ({ model: MODEL, input: 'Say hello.' }), RUN],
    ['an embedding of a run', 'POST', '/v1/embeddings', () => ({ model: EMBEDDING, input: 'hello' }), RUN],
    ['a batch of a run', 'POST', '/v1/batches', batch, RUN],
  ],
  batches: [['a batch', 'POST', '/v1/batches', batch]],
  auto_topup: [['automatic top-up', 'PUT', '/v1/plans/auto-topup', () => ({ enabled: true, threshold_usd: '5', amount_usd: '25' })]],
  anchoring: [
    ['an anchored chat completion', 'POST', '/v1/chat/completions', () => HELLO, ANCHOR],
    ['an anchored response', 'POST', '/v1/responses', () => ({ model: MODEL, input: 'Say hello.' }), ANCHOR],
    ['an anchored batch', 'POST', '/v1/batches', batch, ANCHOR],
  ],
};
const ask = (key: string, [, method, path, body, headers]: Probe) => send(method, path, body?.(), { ...bearer(key), ...headers });

describe.each(Object.entries(USES))('the feature %s', (feature, probes) => {
  test.each(probes.map((probe) => [probe[0], probe] as const))(
    '%s is served on a plan that has it, and refused on one that has not',
    async (_, probe) => {
      await give(WHOLE);
      await expect.poll(async () => (await ask(live, probe)).status).toBe(200);
      await give(without(feature as PlanFeature));
      await expect.poll(async () => (await ask(live, probe)).status).toBe(403);
      expect(JSON.parse((await ask(live, probe)).text)).toMatchObject({ code: 'plan_required', detail: expect.stringContaining(feature) });
    },
  );

  test('is tried with a test key on any plan', async () => {
    await give(without(feature as PlanFeature));
    const probe = probes.find(([, , path]) => !/batches|auto-topup/.test(path));
    if (probe) expect((await ask(testKey, probe)).status).toBe(200);
  });
});

test('without receipts every request still has one, which anyone with its id can read', async () => {
  await give(without('receipts'));
  const { headers } = await send('POST', '/v1/chat/completions', HELLO, bearer(live));
  for (const id of [receiptId, headers.get('x-receipt-id')])
    await expect.poll(async () => (await send('GET', `/v1/receipts/${id}`)).status).toBe(200);
});

test('without reserved capacity every request is served as on any plan', async () => {
  await give(without('dedicated_capacity'));
  for (const probe of Object.values(USES).flat())
    await expect.poll(async () => [probe[0], (await ask(live, probe)).status]).toEqual([probe[0], 200]);
});

test('automatic top-up can be switched off on a plan that no longer has it', async () => {
  await give(without('auto_topup'));
  const off = { enabled: false, threshold_usd: '5', amount_usd: '25' };
  expect((await send('PUT', '/v1/plans/auto-topup', off, bearer(live))).status).toBe(200);
});
