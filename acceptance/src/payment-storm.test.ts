import { createHmac } from 'node:crypto';
import { type FakeStripe, startFakeStripe } from '@tallygate/fake-stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { Account } from './account.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';

const SECRET = 'whsec_storm';
const KILLS = 3;
const EventList = z.object({ data: z.array(z.looseObject({ id: z.string(), created: z.number() })), has_more: z.boolean() });
type Event = z.infer<typeof EventList>['data'][number];

let stripe: FakeStripe;
let gateway: Gateway;
beforeAll(async () => {
  stripe = await startFakeStripe();
  const env = { STRIPE_SECRET_KEY: 'sk_live_storm', STRIPE_WEBHOOK_SECRET: SECRET, STRIPE_API_HOST: stripe.url, LOG_LEVEL: 'warn' };
  gateway = await Gateway.start({ env });
});
afterAll(async () => {
  await gateway?.remove();
  await stripe?.close();
});

const api = async (account: Account, path: string, json?: object) => {
  const answer = await fetch(`${gateway.url}/v1/plans/${path}`, {
    headers: { ...account.session, 'content-type': 'application/json' },
    ...(json && { method: 'POST', body: JSON.stringify(json) }),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`);
  return body;
};

/** A webhook as Stripe signs it. @returns the status, 0 without an answer */
const deliver = async (event: object, { secret = SECRET, at = Math.floor(Date.now() / 1000) } = {}): Promise<number> => {
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` };
  const answer = await fetch(`${gateway.url}/v1/plans/webhooks/stripe`, { method: 'POST', headers, body }).catch(() => undefined);
  return answer?.status ?? 0;
};

const allEvents = async (): Promise<Event[]> => {
  const events: Event[] = [];
  for (let after = ''; ; after = `&starting_after=${events.at(-1)?.id}`) {
    const answer = await fetch(`${stripe.url}/v1/events?limit=100${after}`, { headers: { authorization: 'Bearer sk_live_storm' } });
    const { data, has_more } = EventList.parse(await answer.json());
    events.push(...data);
    if (!has_more) return events.reverse();
  }
};

const paid = (checkout: { checkout_url: string }) => stripe.pay(new URL(checkout.checkout_url).pathname.split('/').at(-1) ?? '');

/** Pays, returns, is disputed: everything at the provider, of which the gateway hears by webhooks alone. @returns what it would hear */
async function story(account: Account): Promise<Event[]> {
  const known = new Set((await allEvents()).map(({ id }) => id));
  paid(await api(account, 'balance-checkout', { amount_usd: '50' }));
  paid(await api(account, 'checkout', { plan_id: 'pro' }));
  paid(await api(account, 'balance-checkout', { amount_usd: '10' }));
  const events = (await allEvents()).filter(({ id }) => !known.has(id));
  const payments = events.flatMap(({ data }) =>
    /"object":"payment_intent"/.test(JSON.stringify(data)) && /"amount":(5000|1000)\b/.test(JSON.stringify(data))
      ? [/"id":"(pi_\w+)"/.exec(JSON.stringify(data))?.[1] ?? '']
      : [],
  );
  const [first = '', second = ''] = [...new Set(payments)];
  await fetch(`${stripe.url}/v1/refunds`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_live_storm' },
    body: new URLSearchParams({ payment_intent: first, amount: '700' }),
  });
  stripe.closeDispute(stripe.openDispute(second), 'lost');
  return (await allEvents()).filter(({ id }) => !known.has(id));
}

/** All that a customer can see of their plan and their money, apart from ids and times. */
async function stateOf(account: Account) {
  const { plan, subscription, change_version } = await api(account, 'current');
  const { balance_usd, disputed_usd, status } = await api(account, 'billing-summary');
  const payments = (await api(account, 'payments')).data.map((one: Record<string, unknown>) =>
    [one['kind'], one['status'], one['amount_usd'], one['refunded_usd'], one['disputed_usd']].join(' '),
  );
  const invoices = (await api(account, 'invoices')).data.map((one: Record<string, unknown>) =>
    [one['kind'], one['status'], one['total_usd']].join(' '),
  );
  return {
    plan: plan.plan_id,
    subscription: subscription.status,
    change_version,
    balance_usd,
    disputed_usd,
    status,
    payments: payments.sort(),
    invoices,
  };
}

test('webhooks sent three times in any order, through crashes, equal one clean delivery in order', async () => {
  const clean = await Account.signUp(gateway);
  for (const event of await story(clean)) expect(await deliver(event)).toBe(200);
  const wanted = await stateOf(clean);
  expect(wanted).toMatchObject({ plan: 'pro', balance_usd: '43', change_version: 1 });

  const stormy = await Account.signUp(gateway);
  const events = await story(stormy);
  let state = 20_261_121;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const waiting = [...events, ...events, ...events].map((event) => ({ event, order: random(1_000_000) })).sort((a, b) => a.order - b.order);
  const share = Math.ceil(waiting.length / (KILLS + 1));
  for (let round = 0; round <= KILLS; round++) {
    const told = waiting.slice(round * share, (round + 1) * share);
    // Several at once; meanwhile the process dies, and unanswered ones are sent again.
    const answers = told.map(async ({ event }) => ({ event, status: await deliver(event) }));
    if (round < KILLS) {
      await Promise.race(answers);
      await gateway.kill();
      await gateway.start();
    }
    for (const { event, status } of await Promise.all(answers)) if (status !== 200) expect(await deliver(event)).toBe(200);
  }
  expect(await stateOf(stormy)).toEqual(wanted);
  await using ledger = await openLedgerAudit(gateway);
  expect(await ledger.faults()).toEqual([]);
});

test('a webhook with another signing key, or an old one, is refused and changes nothing', async () => {
  const account = await Account.signUp(gateway);
  const [event] = (await story(account)).filter(({ type }) => type === 'checkout.session.completed');
  const longAgo = Math.floor(Date.now() / 1000) - 301;
  expect(await deliver(event ?? {}, { secret: 'whsec_other' })).toBe(400);
  expect(await deliver(event ?? {}, { at: longAgo })).toBe(400);
  expect(await stateOf(account)).toMatchObject({ plan: 'free', balance_usd: '0', payments: [] });
  expect(await deliver(event ?? {})).toBe(200);
  expect(await stateOf(account)).not.toMatchObject({ balance_usd: '0', plan: 'free' });
});
