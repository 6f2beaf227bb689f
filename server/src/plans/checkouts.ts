import type { Pool } from 'pg';
import type { PaymentProvider } from '../adapters/payment/port.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../kernel/money.ts';
import { Problem } from '../kernel/problem.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { type SubscriptionRow, subscriptionRow } from './subscription-row.ts';
import { syncInvoice, syncPayment } from './sync-payment.ts';
import { syncSubscription } from './sync-subscription.ts';
import type { Trail } from './tell.ts';
import { type Plan, planOf, planRef, rankOf } from './tiers.ts';

interface CheckoutsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
  /** Base of the pages that a browser comes back to. */
  readonly publicUrl: () => string;
}

export interface CheckoutRow {
  readonly checkout_id: string;
  readonly kind: 'plan' | 'balance';
  readonly plan_id: string | null;
  readonly amount_nano: bigint;
  readonly status: 'open' | 'completed' | 'expired';
  readonly url: string | null;
  readonly expires_at: Date | null;
}

export interface ReturnTo {
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | undefined;
}

/** Whoever is logged in, or their key; `trail` writes down what they did. */
export interface Payer {
  readonly accountId: string;
  readonly userId: string;
  readonly trail: Trail;
}

interface UpgradeOrder {
  readonly proratedAtMs: number | undefined;
  readonly trail: Trail;
}

/** Hosted pages on which plans and balances are paid, and changes of a plan that is paid for already. */
export function createCheckouts({ pool, exclusively, provider, clock, publicUrl }: CheckoutsDeps) {
  const returning = ({ successUrl, cancelUrl }: ReturnTo) => ({
    successUrl: successUrl ?? `${publicUrl()}/billing/done`,
    cancelUrl: cancelUrl ?? `${publicUrl()}/billing/canceled`,
  });

  const customerOf = async (unit: Unit, { accountId, userId }: Pick<Payer, 'accountId' | 'userId'>): Promise<string> => {
    const row = await subscriptionRow(unit, accountId);
    const { rows } = await unit.query<{ email: string }>('select email from users where id = $1', [userId]);
    const customerId = await provider.ensureCustomer({
      accountId,
      customerId: row.customer_id ?? undefined,
      email: rows[0]?.email ?? '',
      idempotencyKey: `customer:${accountId}`,
    });
    await unit.query('update subscriptions set customer_id = $2 where account_id = $1', [accountId, customerId]);
    return customerId;
  };

  const open = async (
    unit: Unit,
    payer: Payer,
    wish: { readonly plan: Plan } | { readonly amount: NanoUsd; readonly saveCard: boolean },
    to: ReturnTo,
  ): Promise<CheckoutRow> => {
    const checkoutId = newId();
    const customerId = await customerOf(unit, payer);
    const base = { accountId: payer.accountId, customerId, ...returning(to), idempotencyKey: `checkout:${checkoutId}` };
    const session =
      'plan' in wish
        ? await provider.createCheckout({
            ...base,
            mode: 'subscription',
            reference: `plan:${checkoutId}`,
            plan: { planId: wish.plan.id, version: wish.plan.version },
          })
        : await provider.createCheckout({
            ...base,
            mode: 'payment',
            reference: `balance:${checkoutId}`,
            amount: wish.amount,
            description: 'Balance top-up',
            saveCard: wish.saveCard,
          });
    const target = { kind: 'checkout', id: checkoutId };
    const wanted = 'plan' in wish ? { plan: planRef(wish.plan) } : {};
    await payer.trail(unit, { action: 'checkout.created', target, changes: { ...wanted, amount_usd: formatUsd(session.amount) } });
    return insert(unit, {
      accountId: payer.accountId,
      checkoutId,
      kind: 'plan' in wish ? 'plan' : 'balance',
      plan: 'plan' in wish ? wish.plan : null,
      amount: session.amount,
      status: 'open',
      sessionId: session.id,
      url: session.url ?? null,
      expiresAtMs: session.expiresAtMs,
      now: clock.now(),
    });
  };

  /** Two pages that could both be paid would be two subscriptions. @returns whether one of them was paid already */
  const expireOpen = async (unit: Unit, accountId: string): Promise<boolean> => {
    const { rows } = await unit.query<{ session_id: string }>(
      "select session_id from checkouts where account_id = $1 and kind = 'plan' and status = 'open' and session_id is not null",
      [accountId],
    );
    let isPaid = false;
    for (const { session_id } of rows) {
      const session = await provider.expireCheckout(session_id);
      isPaid ||= session?.status === 'complete';
      await unit.query('update checkouts set status = $2, url = null where session_id = $1', [
        session_id,
        session?.status === 'complete' ? 'completed' : 'expired',
      ]);
    }
    return isPaid;
  };

  const upgrade = async (unit: Unit, row: SubscriptionRow, plan: Plan, { proratedAtMs, trail }: UpgradeOrder): Promise<CheckoutRow> => {
    const checkoutId = newId();
    const outcome = await provider.changeSubscription({
      subscriptionId: row.subscription_id ?? '',
      plan: { planId: plan.id, version: plan.version },
      ...(proratedAtMs !== undefined && { proratedAtMs }),
      idempotencyKey: `upgrade:${checkoutId}`,
    });
    if (!outcome.changed) throw new Problem('payment_declined', `Nothing was changed: ${outcome.decline.message}`);
    await syncSubscription({ provider, clock }, unit, row.account_id);
    let amount = 0n;
    if (outcome.invoiceId !== undefined) {
      const paidBy = await syncInvoice({ provider, clock }, unit, row.account_id, outcome.invoiceId);
      for (const id of paidBy) await syncPayment({ provider, clock }, unit, row.account_id, id);
      amount = (await provider.readInvoice(outcome.invoiceId))?.total ?? 0n;
    }
    const changes = { plan: { from: `${row.plan_id}@${row.plan_version}`, to: planRef(plan) }, amount_usd: formatUsd(amount) };
    await trail(unit, { action: 'plan.upgraded', target: { kind: 'checkout', id: checkoutId }, changes });
    return insert(unit, {
      accountId: row.account_id,
      checkoutId,
      kind: 'plan',
      plan,
      amount,
      status: 'completed',
      sessionId: null,
      url: null,
      expiresAtMs: null,
      now: clock.now(),
    });
  };

  return {
    /** Of the plan, by whichever way it is paid. @throws Problem `conflict` for no dearer plan or while a payment is late; `payment_declined` */
    plan: (payer: Payer, plan: Plan, to: ReturnTo & { readonly proratedAtMs: number | undefined }): Promise<CheckoutRow> =>
      exclusively(payer.accountId, async (unit) => {
        const wasPaid = await expireOpen(unit, payer.accountId);
        const row = await syncSubscription({ provider, clock }, unit, payer.accountId);
        const current = planOf(row.plan_id === null ? row.granted_plan : `${row.plan_id}@${row.plan_version}`);
        if (wasPaid || rankOf(plan) <= rankOf(current))
          throw new Problem('conflict', `The account is on ${current.name}: for a cheaper plan use POST /v1/plans/downgrade-schedule.`);
        if (row.subscription_id === null) return open(unit, payer, { plan }, to);
        if (row.status !== 'active' && row.status !== 'trialing')
          throw new Problem(
            'conflict',
            'A payment of the present plan is late: settle it in the customer portal (POST /v1/plans/portal) first.',
          );
        return upgrade(unit, row, plan, { proratedAtMs: to.proratedAtMs, trail: payer.trail });
      }),

    balance: (payer: Payer, wish: { readonly amount: NanoUsd; readonly saveCard: boolean }, to: ReturnTo): Promise<CheckoutRow> =>
      exclusively(payer.accountId, (unit) => open(unit, payer, wish, to)),

    portal: (payer: Pick<Payer, 'accountId' | 'userId'>, returnUrl: string | undefined): Promise<string> =>
      exclusively(payer.accountId, async (unit) =>
        provider.createPortalLink({ customerId: await customerOf(unit, payer), returnUrl: returnUrl ?? `${publicUrl()}/billing/done` }),
      ),

    async read(accountId: string, checkoutId: string): Promise<CheckoutRow> {
      const { rows } = await pool.query<CheckoutRow>('select * from checkouts where checkout_id = $1 and account_id = $2', [
        checkoutId,
        accountId,
      ]);
      if (!rows[0]) throw new Problem('not_found', 'There is no such checkout in this account.');
      return rows[0];
    },
  };
}

interface NewCheckout {
  readonly accountId: string;
  readonly checkoutId: string;
  readonly kind: CheckoutRow['kind'];
  readonly plan: Plan | null;
  readonly amount: NanoUsd;
  readonly status: CheckoutRow['status'];
  readonly sessionId: string | null;
  readonly url: string | null;
  readonly expiresAtMs: number | null;
  readonly now: number;
}

async function insert(unit: Unit, made: NewCheckout): Promise<CheckoutRow> {
  const expiresAt = made.expiresAtMs === null ? null : new Date(made.expiresAtMs);
  await unit.query(
    `insert into checkouts (checkout_id, account_id, kind, session_id, plan_id, plan_version, amount_nano, status, url, expires_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      made.checkoutId,
      made.accountId,
      made.kind,
      made.sessionId,
      made.plan?.id ?? null,
      made.plan?.version ?? null,
      made.amount.toString(),
      made.status,
      made.url,
      expiresAt,
      rfc3339(made.now),
    ],
  );
  const { checkoutId: checkout_id, kind, plan, amount: amount_nano, status, url } = made;
  return { checkout_id, kind, plan_id: plan?.id ?? null, amount_nano, status, url, expires_at: expiresAt };
}
