import { CurrentPlanResponse } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';

const IMAGE = { model: 'gpt-image-1', prompt: 'A ledger made of light', quality: 'low', size: '1024x1024' };
const FREE_IMAGES = 10;
const scopes = ['inference', 'account:read', 'billing:write'] as const;

/** A member of the gateway, with a key of either mode. */
interface Member {
  readonly live: string;
  readonly test: string;
}

let upstream: FakeUpstream;
let gateway: Gateway;
let member: Member;
let stranger: Member;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  // Provider keys, and no payment provider: checkouts use the sandbox of payments.
  gateway = await Gateway.start({ process: 'shared', providers: [{ name: 'fake', base_url: upstream.url, models: [IMAGE.model] }] });
  [member, stranger] = await Promise.all([newMember(), newMember()]);
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

async function newMember(): Promise<Member> {
  const account = await Account.signUp(gateway);
  const keyOf = async (livemode: boolean) => (await account.createKey({ scopes: [...scopes], livemode })).key;
  return { live: await keyOf(true), test: await keyOf(false) };
}

async function call(path: string, key: string, json?: object) {
  const answer = await fetch(`${gateway.url}/v1/${path}`, {
    ...(json && { method: 'POST', body: JSON.stringify(json) }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  return { status: answer.status, body: await answer.json() };
}
const planOf = async (key: string) => CurrentPlanResponse.parse((await call('plans/current', key)).body).plan.plan_id;
const balanceOf = async (key: string) => (await call('plans/billing-summary', key)).body.balance_usd;
const statusOf = async (checkoutId: string, key: string) => (await call(`plans/checkouts/${checkoutId}`, key)).body.status;

async function begin(path: string, json: object, { live }: Member = member): Promise<{ checkout_id: string; checkout_url: string }> {
  const { status, body } = await call(`plans/${path}`, live, json);
  expect(status).toBe(200);
  return body;
}

const PAY = { action: 'pay', card: 'good' };
const press = (url: string, form: Record<string, string> = PAY, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });

describe('a member who completes the sandbox page', () => {
  test('has the plan and the balance in test mode, and no live service', async () => {
    const plan = await begin('checkout', { plan_id: 'enterprise' });
    expect((await press(plan.checkout_url)).status).toBe(303);
    await expect.poll(() => statusOf(plan.checkout_id, member.live)).toBe('completed');
    const balance = await begin('balance-checkout', { amount_usd: '25', save_card: true });
    expect((await press(balance.checkout_url)).status).toBe(303);
    await expect.poll(() => balanceOf(member.test)).toBe('25');
    expect([await planOf(member.test), await planOf(member.live), await balanceOf(member.live)]).toEqual(['enterprise', 'free', '0']);
    expect((await call('images/generations', member.live, { ...IMAGE, n: FREE_IMAGES })).status).toBe(200);
    const beyond = await call('images/generations', member.live, { ...IMAGE, n: 1 });
    expect([beyond.status, beyond.body.code]).toEqual([402, 'budget_exceeded']);
    expect(upstream.requests).toHaveLength(1);
  });

  test('pays once, also when it is sent repeatedly and from different addresses', async () => {
    const before = Number(await balanceOf(member.test));
    const { checkout_url } = await begin('balance-checkout', { amount_usd: '10' });
    const replayed = await Promise.all(Array.from({ length: 8 }, () => press(checkout_url)));
    expect(replayed.map(({ status }) => status)).toEqual(Array(8).fill(303));
    await expect.poll(() => balanceOf(member.test)).toBe(`${before + 10}`);
    await press(checkout_url);
    await press(checkout_url, { action: 'decline' });
    // A later event comes after all earlier ones.
    const { checkout_url: next } = await begin('balance-checkout', { amount_usd: '5' });
    await press(next);
    await expect.poll(() => balanceOf(member.test)).toBe(`${before + 15}`);
  });
});

describe('the page of a checkout', () => {
  let checkout: Awaited<ReturnType<typeof begin>>;
  let id: string;
  beforeEach(async () => {
    checkout = await begin('balance-checkout', { amount_usd: '20' }, stranger);
    id = new URL(checkout.checkout_url).pathname.split('/').at(-1) ?? '';
  });
  const isOpen = async () => expect(await statusOf(checkout.checkout_id, stranger.live)).toBe('open');

  test.each([
    ['GET', '?action=pay&card=good'],
    ['HEAD', '?action=pay&card=good'],
    ['PUT', ''],
    ['DELETE', ''],
    ['PATCH', ''],
  ])('is not paid by %s%s', async (method, query) => {
    await fetch(`${checkout.checkout_url}${query}`, {
      method,
      headers: { 'x-http-method-override': 'POST' },
      ...(query === '' && { body: new URLSearchParams(PAY) }),
    });
    await isOpen();
  });

  test('is not found under an id that is changed, cut, or of another kind', async () => {
    const base = checkout.checkout_url.slice(0, -id.length);
    const swapped = id.at(-1) === 'a' ? 'b' : 'a';
    const wrong = [
      id.slice(0, -1),
      `${id.slice(0, -1)}${swapped}`,
      `${id}a`,
      id.toUpperCase(),
      `${id}%00`,
      `%2e%2e/${id}`,
      'a'.repeat(200),
      '%',
    ];
    for (const one of wrong) expect([one, (await press(`${base}${one}`)).status >= 400]).toEqual([one, true]);
    for (const kind of ['billing', 'invoices']) expect((await press(checkout.checkout_url.replace('/pay/', `/${kind}/`))).status).toBe(404);
    for (const one of wrong) expect((await fetch(`${base}${one}`)).status).toBeGreaterThanOrEqual(400);
    await isOpen();
  });

  test('cannot be read by another account', async () => {
    const missing = await call('plans/checkouts/00000000-0000-4000-8000-000000000000', member.live);
    const foreign = await call(`plans/checkouts/${checkout.checkout_id}`, member.live);
    expect([foreign.status, foreign.body.code, foreign.body.detail]).toEqual([missing.status, missing.body.code, missing.body.detail]);
    expect(foreign.status).toBe(404);
  });

  test('is in no frame, in no cache and in no referrer, and runs no script', async () => {
    for (const answer of [
      await fetch(checkout.checkout_url),
      await press(checkout.checkout_url, { action: 'decline' }),
      await press(checkout.checkout_url),
    ]) {
      const header = (name: string) => answer.headers.get(name);
      expect(header('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(header('content-security-policy')).toContain("default-src 'none'");
      expect(header('content-security-policy')).not.toMatch(/script-src|unsafe-/);
      expect([header('x-frame-options'), header('cache-control'), header('referrer-policy'), header('x-content-type-options')]).toEqual([
        ...['DENY', 'no-store', 'no-referrer', 'nosniff'],
      ]);
      // No page of another origin reads the link to pay in it.
      expect(header('access-control-allow-origin')).toBeNull();
      expect(await answer.text()).not.toContain('<script');
    }
  });

  test('takes no form that is larger than a kilobyte', async () => {
    expect((await press(checkout.checkout_url, { ...PAY, padding: 'x'.repeat(2_000) })).status).toBe(413);
    await isOpen();
  });
});

test('the billing page of one member changes nothing of another one’s plan', async () => {
  const own = await begin('checkout', { plan_id: 'pro' }, stranger);
  await press(own.checkout_url);
  await expect.poll(() => planOf(stranger.test)).toBe('pro');
  const portalOf = async ({ live }: Member): Promise<string> =>
    (await call('plans/portal', live, { return_url: `${gateway.url}/done` })).body.url ?? expect.fail('There is no billing page');
  const [mine, theirs] = [await portalOf(member), await portalOf(stranger)];
  const page = await (await fetch(theirs)).text();
  const subscription = /name="subscription" value="(\w+)"/.exec(page)?.[1] ?? expect.fail(page);
  await press(mine, { subscription, action: 'cancel' });
  expect(await (await fetch(theirs)).text()).toContain('renews on');
  expect(await (await fetch(mine)).text()).not.toContain(subscription);
});
