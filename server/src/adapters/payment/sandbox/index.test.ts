import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import { openPool } from '../../postgres/database.ts';
import { testDatabase } from '../../postgres/test-database.ts';
import { describePayments, type PaymentsUnderTest, type TestCardKind } from '../conformance.ts';
import type { CheckoutSession, PaymentEvent } from '../port.ts';
import { createSandboxPayments, type SandboxPayments } from './index.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
const empty = () => pool.query('truncate sandbox_payment_objects, sandbox_payment_events, sandbox_payment_requests');

const pathOf = (url: string): string => new URL(url).pathname;
const submit = (sandbox: SandboxPayments, url: string, form: Record<string, string>) =>
  sandbox.pages.serve('POST', pathOf(url), new URLSearchParams(form).toString());

describePayments('The sandbox', async (): Promise<PaymentsUnderTest> => {
  await empty();
  const told: PaymentEvent[] = [];
  let last: ReturnType<PaymentsUnderTest['lastWebhook']> = { rawBody: Buffer.alloc(0), signature: '' };
  let now = Date.UTC(2026, 0, 31, 12);
  const sandbox = await createSandboxPayments({
    pool,
    clock: { now: () => now },
    log: silentLog(),
    publicUrl: () => 'http://127.0.0.1:1',
    deliver: async (rawBody, signature) => {
      last = { rawBody, signature };
      told.push(sandbox.provider.verifyWebhook(rawBody, signature));
    },
  });
  const press = async ({ url }: CheckoutSession, form: Record<string, string>) => {
    if (url !== undefined) await submit(sandbox, url, form);
  };
  return {
    provider: sandbox.provider,
    pay: (session, card: TestCardKind) => press(session, { action: 'pay', card }),
    decline: (session) => press(session, { action: 'decline' }),
    advanceDays: async (days) => {
      now += days * 86_400_000;
      await sandbox.tick();
    },
    told: async () => {
      await sandbox.tick();
      return told;
    },
    lastWebhook: () => last,
    close: () => sandbox.provider.close(),
  };
});

describe('The sandbox', () => {
  beforeEach(empty);
  const clock = { now: () => Date.UTC(2026, 4, 1) };
  const start = (deliver: (rawBody: Buffer, signature: string) => Promise<void> = async () => {}) =>
    createSandboxPayments({ pool, clock, log: silentLog(), publicUrl: () => 'https://gateway.example', deliver });
  const checkout = async ({ provider }: SandboxPayments, description = 'Balance') => {
    const customerId = await provider.ensureCustomer({ accountId: 'a1', email: 'ada@example.com', idempotencyKey: 'c' });
    const session = await provider.createCheckout({
      mode: 'payment',
      idempotencyKey: 's',
      accountId: 'a1',
      customerId,
      reference: 'r',
      amount: 25_000_000_000n,
      description,
      saveCard: true,
      successUrl: 'https://app.example/ok?session={CHECKOUT_SESSION_ID}',
      cancelUrl: 'https://app.example/no',
    });
    return { ...session, url: session.url ?? '' };
  };

  test('what was not taken is told after a restart, in order, and forgotten a month after it was taken', async () => {
    const before = await start(async () => {
      throw new Error('The gateway is down');
    });
    const { id, url } = await checkout(before);
    await submit(before, url, { action: 'pay', card: 'good' });
    await before.provider.close();
    const told: PaymentEvent[] = [];
    const after: SandboxPayments = await start(
      async (rawBody, signature) => void told.push(before.provider.verifyWebhook(rawBody, signature)),
    );
    await after.tick();
    expect(told.map(({ kind }) => kind)).toEqual(['payment_succeeded', 'checkout_completed']);
    expect(await after.provider.readCheckout(id)).toMatchObject({ status: 'complete', isPaid: true });
    await after.tick();
    expect(told).toHaveLength(2);
    await pool.query(`update sandbox_payment_events set delivered_at = now() - interval '31 days'`);
    await pool.query('truncate sandbox_payment_requests');
    await submit(after, (await checkout(after)).url, { action: 'pay', card: 'good' });
    expect((await pool.query('select from sandbox_payment_events')).rowCount).toBe(2);
  });

  test('the page says what is paid and that no money moves, and is safe against what is written on it', async () => {
    const sandbox = await start();
    const { url } = await checkout(sandbox, '<script>alert(1)</script>');
    expect(url).toMatch(/^https:\/\/gateway\.example\/sandbox\/payments\/pay\/\w+$/);
    expect([sandbox.pages.handles(pathOf(url)), sandbox.pages.handles('/sandbox/payments/pay/../x')]).toEqual([true, false]);
    const page = await sandbox.pages.serve('GET', pathOf(url), '');
    expect(page.body).toContain('$25.00');
    expect(page.body).toContain('no money moves');
    expect(page.body).not.toContain('<script');
    expect(page.headers['content-security-policy']).toContain("form-action 'self' https://app.example;");
  });

  test('Decline leaves the page with an alert, Pay leads back once, and the link is then a receipt', async () => {
    const sandbox = await start();
    const { id, url } = await checkout(sandbox);
    expect(await submit(sandbox, url, { action: 'decline' })).toMatchObject({ status: 200, body: expect.stringContaining('role="alert"') });
    const paid = await submit(sandbox, url, { action: 'pay', card: 'good' });
    expect(paid).toMatchObject({ status: 303, headers: { location: `https://app.example/ok?session=${id}` } });
    await submit(sandbox, url, { action: 'pay', card: 'good' });
    await submit(sandbox, url, { action: 'decline' });
    expect((await sandbox.pages.serve('GET', pathOf(url), '')).body).toContain('<h1>Paid</h1>');
    const { rows } = await pool.query("select 1 from sandbox_payment_objects where kind = 'payment'");
    expect(rows).toHaveLength(2);
  });

  test('pressing Pay twice at the same moment pays once', async () => {
    const sandbox = await start();
    const { url } = await checkout(sandbox);
    await Promise.all([1, 2, 3].map(() => submit(sandbox, url, { action: 'pay', card: 'good' })));
    const { rows } = await pool.query("select 1 from sandbox_payment_objects where kind = 'payment'");
    expect(rows).toHaveLength(1);
  });

  test('the billing page cancels and keeps a plan, shows its invoices, and expires', async () => {
    let now = Date.UTC(2026, 4, 1);
    const sandbox = await createSandboxPayments({
      pool,
      clock: { now: () => now },
      log: silentLog(),
      publicUrl: () => 'https://gateway.example',
      deliver: async () => {},
    });
    const { provider } = sandbox;
    await provider.provision([{ planId: 'pro', version: 1, name: 'Pro', monthlyPrice: 20_000_000_000n }]);
    const customerId = await provider.ensureCustomer({ accountId: 'a1', email: 'ada@example.com', idempotencyKey: 'c' });
    const urls = { successUrl: 'https://app.example/', cancelUrl: 'https://app.example/' };
    const order = { accountId: 'a1', customerId, reference: 'r', idempotencyKey: 's', ...urls };
    const session = await provider.createCheckout({ ...order, mode: 'subscription', plan: { planId: 'pro', version: 1 } });
    await submit(sandbox, session.url ?? '', { action: 'pay', card: 'good' });
    const { subscriptionId = '' } = (await provider.readCheckout(session.id)) ?? {};
    const portal = await provider.createPortalLink({ customerId, returnUrl: 'https://app.example/billing' });
    const press = async (action: string) => (await submit(sandbox, portal, { action, subscription: subscriptionId })).body;
    expect(await press('cancel')).toContain('ends on 2026-06-01');
    expect(await provider.readSubscription(subscriptionId)).toMatchObject({ cancelsAtPeriodEnd: true });
    expect(await press('resume')).toContain('renews on 2026-06-01');
    const [invoice] = await provider.listInvoices(customerId);
    const shown = await sandbox.pages.serve('GET', pathOf(invoice?.hostedUrl ?? ''), '');
    expect(shown.body).toMatch(/Pro.*\$20\.00/s);
    now += 2 * 3_600_000;
    expect((await sandbox.pages.serve('GET', pathOf(portal), '')).status).toBe(404);
    expect((await sandbox.pages.serve('GET', '/sandbox/payments/pay/none', '')).status).toBe(404);
  });
});
