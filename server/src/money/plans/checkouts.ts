import type { Pool } from 'pg';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { runningTrial } from './gifts.ts';
import { beginCommand, commandOfRequest, endCommand, type PaymentCommand } from './payment-commands.ts';
import { OPERATOR, type PlanBook, planRef } from './plan-book.ts';
import { requireReal } from './real-money.ts';
import { type PlanTermsDeps, presentPlan, subscriptionRow } from './subscription-row.ts';
import { syncInvoice, syncPayment } from './sync-payment.ts';
import { syncSubscription } from './sync-subscription.ts';
import { tables } from './tables.ts';
import type { Trail } from './tell.ts';
import type { Plan } from './tiers.ts';
import { requirePunctual, type UpgradePreviews } from './upgrade-previews.ts';

interface CheckoutsDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly previews: UpgradePreviews;
  readonly clock: Clock;
  readonly canBuyReal: boolean;
  /** Base of the pages that a browser comes back to. */
  readonly publicUrl: () => string;
}

export interface CheckoutRow {
  readonly checkout_id: string;
  readonly kind: 'plan' | 'balance' | 'purchase';
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

/** What another slice sells. */
interface Thing {
  /** Comes back with the payment. */
  readonly reference: string;
  readonly amount: NanoUsd;
  /** As the page and the receipt call it. */
  readonly description: string;
  readonly expiresAtMs: number;
}

type CheckoutRequest = { readonly plan: Plan } | { readonly amount: NanoUsd; readonly saveCard: boolean } | Thing;

export interface PlanWish extends ReturnTo {
  /** From an upgrade preview. */
  readonly proratedAtMs: number | undefined;
  /** Of the request; undefined where it has no `Idempotency-Key`. */
  readonly requestHash: Buffer | undefined;
}

interface UpgradeDetails {
  readonly prorated_at_ms: number | null;
  readonly change_version: number;
}

type Upgrade = PaymentCommand<UpgradeDetails>;

/** Hosted pages on which plans and balances are paid, and changes of a plan that is paid for already. */
export function createCheckouts(deps: CheckoutsDeps) {
  const { pool, exclusively, provider, previews, clock, publicUrl, book, canBuyReal } = deps;
  const returning = ({ successUrl, cancelUrl }: ReturnTo) => ({
    successUrl: successUrl ?? `${publicUrl()}/billing/done`,
    cancelUrl: cancelUrl ?? `${publicUrl()}/billing/canceled`,
  });

  const customerOf = async (unit: Unit, { accountId, userId }: Pick<Payer, 'accountId' | 'userId'>): Promise<string> => {
    const row = await subscriptionRow(unit, accountId, deps);
    const user = await firstOf(unit, tables.selectFrom('users').select('email').where('id', '=', userId));
    const customerId = await provider.ensureCustomer({
      accountId,
      customerId: row.customer_id ?? undefined,
      email: user?.email ?? '',
      idempotencyKey: `customer:${accountId}`,
    });
    await unit.query('update subscriptions set customer_id = $2 where account_id = $1', [accountId, customerId]);
    return customerId;
  };

  const open = async (unit: Unit, payer: Payer, wish: CheckoutRequest, to: ReturnTo): Promise<CheckoutRow> => {
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
            amount: wish.amount,
            ...('reference' in wish
              ? { reference: wish.reference, description: wish.description, saveCard: false, expiresAtMs: wish.expiresAtMs }
              : { reference: `balance:${checkoutId}`, description: 'Balance top-up', saveCard: wish.saveCard }),
          });
    const target = { kind: 'checkout', id: checkoutId };
    const wanted = 'plan' in wish ? { plan: planRef(wish.plan) } : {};
    await payer.trail(unit, { action: 'checkout.created', target, changes: { ...wanted, amount_usd: formatUsd(session.amount) } });
    return insert(unit, {
      accountId: payer.accountId,
      checkoutId,
      kind: 'plan' in wish ? 'plan' : 'reference' in wish ? 'purchase' : 'balance',
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
    const rows = await rowsOf(
      unit,
      tables
        .selectFrom('checkouts')
        .select((eb) => eb.ref('session_id').$notNull().as('session_id'))
        .where('account_id', '=', accountId)
        .where('kind', '=', 'plan')
        .where('status', '=', 'open')
        .where('session_id', 'is not', null),
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

  /** Asked again under its command, the provider answers as it did; so a lost answer costs nothing. @returns why it was declined */
  const carryOut = async (unit: Unit, { account_id: accountId, command_id: checkoutId, details, subject }: Upgrade, trail: Trail) => {
    const [plan, row] = [book.of(subject), await syncSubscription(deps, unit, accountId)];
    const [current, isAsOrdered] = [presentPlan(row, deps), row.change_version === details.change_version];
    if (row.subscription_id === null || (!isAsOrdered && current.id !== plan.id))
      return refuse(
        unit,
        checkoutId,
        new Problem('conflict', 'The plan was changed by another request meanwhile: preview the upgrade again.'),
      );
    const outcome = await provider.changeSubscription({
      subscriptionId: row.subscription_id,
      plan: { planId: plan.id, version: plan.version },
      ...(details.prorated_at_ms !== null && { proratedAtMs: details.prorated_at_ms }),
      idempotencyKey: `upgrade:${checkoutId}`,
    });
    if (!outcome.changed)
      return refuse(unit, checkoutId, new Problem('payment_declined', `Nothing was changed: ${outcome.decline.message}`));
    // What is bought now stands before what was given earlier.
    await unit.query('update subscriptions set given_over = null where account_id = $1', [accountId]);
    await syncSubscription(deps, unit, accountId);
    let amount = 0n;
    if (outcome.invoiceId !== undefined) {
      const paidBy = await syncInvoice({ provider, clock }, unit, accountId, outcome.invoiceId);
      for (const id of paidBy) await syncPayment({ provider, clock }, unit, accountId, id);
      amount = (await provider.readInvoice(outcome.invoiceId))?.total ?? 0n;
    }
    const changes = { plan: { from: planRef(current), to: planRef(plan) }, amount_usd: formatUsd(amount) };
    await trail(unit, { action: 'plan.upgraded', target: { kind: 'checkout', id: checkoutId }, changes });
    await endCommand(unit, checkoutId, clock);
    const sold = { accountId, checkoutId, kind: 'plan', plan, amount, status: 'completed' } as const;
    return insert(unit, { ...sold, sessionId: null, url: null, expiresAtMs: null, now: clock.now() });
  };

  /** On record with the transaction that finds it out, and thrown after it. */
  const refuse = async (unit: Unit, commandId: string, problem: Problem): Promise<Problem> => {
    await endCommand(unit, commandId, clock, problem.message);
    return problem;
  };

  /** What is wished for becomes a page to pay on, or an upgrade that is on record before anybody is asked for it. */
  const decide = async (unit: Unit, payer: Payer, plan: Plan, wish: PlanWish): Promise<CheckoutRow | Upgrade> => {
    const known = await commandOfRequest<UpgradeDetails>(unit, wish.requestHash);
    if (known?.state === 'refused') throw new Problem('conflict', known.refusal ?? 'Nothing was changed.');
    if (known) return known.state === 'done' ? readCheckout(unit, payer.accountId, known.command_id) : known;
    const wasPaid = await expireOpen(unit, payer.accountId);
    const row = await syncSubscription(deps, unit, payer.accountId);
    // A plan on trial is still to be bought.
    const trial = await runningTrial(unit, payer.accountId);
    requireHigher(book, plan, { present: presentPlan(trial ? { ...row, given_plan: trial.back_to } : row, deps), wasPaid });
    if (row.subscription_id === null) return open(unit, payer, { plan }, wish);
    requirePunctual(row);
    if (wish.proratedAtMs !== undefined) await previews.require(unit, row, plan, wish.proratedAtMs);
    const details = { prorated_at_ms: wish.proratedAtMs ?? null, change_version: row.change_version };
    const order = { kind: 'upgrade', accountId: payer.accountId, subject: planRef(plan), details, requestHash: wish.requestHash } as const;
    return beginCommand(unit, order, clock);
  };

  return {
    /** Of the plan, by whichever way it is paid. @throws Problem `conflict` for no dearer plan or while a payment is late; `payment_declined` */
    async plan(payer: Payer, plan: Plan, wish: PlanWish): Promise<CheckoutRow> {
      const decided = await exclusively(payer.accountId, (unit) => decide(unit, payer, plan, wish));
      if ('checkout_id' in decided) return decided;
      const outcome = await exclusively(payer.accountId, (unit) => carryOut(unit, decided, payer.trail));
      if (outcome instanceof Problem) throw outcome;
      return outcome;
    },

    balance: (payer: Payer, wish: { readonly amount: NanoUsd; readonly saveCard: boolean }, to: ReturnTo): Promise<CheckoutRow> =>
      exclusively(payer.accountId, (unit) => open(unit, payer, wish, to)),

    /** Before a page is opened, or shown again, for something that another slice sells. @throws Problem `conflict` */
    requirePurchases: (): void => requireReal(canBuyReal),

    /** Of something that another slice sells, in a transaction with the account's billing locked. @throws Problem `conflict` */
    purchase: async (unit: Unit, payer: Payer, thing: Thing, to: ReturnTo): Promise<CheckoutRow> => {
      requireReal(canBuyReal);
      return open(unit, payer, thing, to);
    },

    portal: (payer: Pick<Payer, 'accountId' | 'userId'>, returnUrl: string | undefined): Promise<string> =>
      exclusively(payer.accountId, async (unit) =>
        provider.createPortalLink({ customerId: await customerOf(unit, payer), returnUrl: returnUrl ?? `${publicUrl()}/billing/done` }),
      ),

    read: (accountId: string, checkoutId: string): Promise<CheckoutRow> => readCheckout(pool, accountId, checkoutId),
  };
}

async function readCheckout(unit: Queryable, accountId: string, checkoutId: string): Promise<CheckoutRow> {
  const found = tables.selectFrom('checkouts').selectAll().where('checkout_id', '=', checkoutId).where('account_id', '=', accountId);
  const checkout = await firstOf(unit, found);
  if (!checkout) throw new Problem('not_found', 'There is no such checkout in this account.');
  return checkout;
}

/** @throws Problem `conflict` for a plan that nobody can buy, and for an account that needs none */
export function requireForSale(book: PlanBook, wanted: Plan, present: Plan): void {
  if (present.id === OPERATOR)
    throw new Problem('conflict', 'The account is on the plan Operator, without limits and price: there is nothing to buy.');
  if (book.isForSale(wanted.id)) return;
  throw new Problem('conflict', `The plan ${wanted.name} is not for sale: GET /v1/plans/config lists those that are.`);
}

function requireHigher(book: PlanBook, wanted: Plan, { present, wasPaid }: { readonly present: Plan; readonly wasPaid: boolean }): void {
  requireForSale(book, wanted, present);
  if (book.rankOf(wanted) === book.rankOf(present))
    throw new Problem('conflict', `The account has ${present.name} already: there is nothing to buy.`);
  if (book.rankOf(wanted) < book.rankOf(present))
    throw new Problem('conflict', `The account has ${present.name}: for a cheaper plan use POST /v1/plans/downgrade-schedule.`);
  if (wasPaid) throw new Problem('conflict', 'A plan has just been paid for on an earlier page: repeat the request in a moment.');
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
