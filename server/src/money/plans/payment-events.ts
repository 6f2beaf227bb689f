import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import type { Dispute, PaymentEvent, PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { formatUsd } from '../../kernel/money.ts';
import { firstOf } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import { laneId } from '../ledger/index.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import type { PlanTermsDeps } from './subscription-row.ts';
import { type OnPurchase, syncInvoice, syncPayment } from './sync-payment.ts';
import { syncSubscription } from './sync-subscription.ts';
import { tables } from './tables.ts';
import { mailAccount, recordBySystem } from './tell.ts';

export interface PaymentEventsDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPurchase: OnPurchase | undefined;
}

/**
 * Takes what the payment provider tells. An event is a reason to look: what is done follows from what the provider says now, in one
 * transaction with the event's id. So events may come twice, in any order, or with a crash between any two statements.
 */
export function createPaymentEvents(deps: PaymentEventsDeps) {
  const { pool, exclusively, provider, lanes, clock, log, onPurchase } = deps;

  const accountOf = async ({ accountId, customerId }: { accountId?: string | undefined; customerId?: string | undefined }) => {
    const itself = tables
      .selectFrom('accounts')
      .select('id')
      .where(sql`id::text`, '=', accountId ?? '');
    const customer = tables
      .selectFrom('subscriptions')
      .select('account_id as id')
      .where('customer_id', '=', customerId ?? '');
    return (await firstOf(pool, itself.unionAll(customer).limit(1)))?.id;
  };

  const accountOfPayment = async (paymentId: string | undefined) => {
    const payment = paymentId === undefined ? undefined : await provider.readPayment(paymentId);
    return payment && (await accountOf(payment));
  };

  const accountOfEvent = async (event: PaymentEvent): Promise<string | undefined> => {
    switch (event.kind) {
      case 'checkout_completed':
      case 'checkout_expired':
      case 'checkout_payment_failed':
        return accountOf(event.session);
      case 'subscription_changed':
        return accountOf(event.subscription);
      case 'schedule_changed':
        return accountOf(event);
      case 'invoice_changed':
      case 'invoice_paid':
      case 'invoice_payment_failed':
        return accountOf(event.invoice);
      case 'payment_succeeded':
      case 'payment_failed':
        return accountOf(event.payment);
      case 'refund_changed':
        return accountOfPayment(event.refund.paymentId);
      case 'dispute_changed':
        return accountOfPayment(event.dispute.paymentId);
      case 'other':
        return undefined;
      default:
        return event satisfies never;
    }
  };

  const subscription = (unit: Unit, accountId: string) => syncSubscription(deps, unit, accountId);
  const payment = (unit: Unit, accountId: string, id: string | undefined) =>
    id === undefined ? Promise.resolve(false) : syncPayment({ provider, clock, onPurchase }, unit, accountId, id);

  const checkout = async (unit: Unit, accountId: string, sessionId: string): Promise<void> => {
    const session = await provider.readCheckout(sessionId);
    if (!session) return;
    if (session.mode === 'subscription') {
      // The page may have made the customer; from now on it is theirs.
      await unit.query('update subscriptions set customer_id = coalesce(customer_id, $2) where account_id = $1', [
        accountId,
        session.customerId ?? null,
      ]);
      await subscription(unit, accountId);
    } else await payment(unit, accountId, session.paymentId);
    const status = session.status === 'complete' ? (session.isPaid ? 'completed' : 'open') : session.status;
    await unit.query('update checkouts set status = $2, url = case when $2 = $3 then url end where session_id = $1', [
      sessionId,
      status,
      'open',
    ]);
  };

  const invoice = async (unit: Unit, accountId: string, invoiceId: string): Promise<void> => {
    for (const id of await syncInvoice({ provider, clock }, unit, accountId, invoiceId)) await payment(unit, accountId, id);
    await subscription(unit, accountId);
  };

  const act = async (unit: Unit, accountId: string, event: PaymentEvent): Promise<unknown> => {
    switch (event.kind) {
      case 'checkout_completed':
      case 'checkout_expired':
      case 'checkout_payment_failed':
        return checkout(unit, accountId, event.session.id);
      case 'subscription_changed':
      case 'schedule_changed':
        return subscription(unit, accountId);
      case 'invoice_changed':
      case 'invoice_paid':
      case 'invoice_payment_failed':
        return invoice(unit, accountId, event.invoice.id);
      case 'payment_succeeded':
      case 'payment_failed':
        return payment(unit, accountId, event.payment.id);
      case 'refund_changed':
        return payment(unit, accountId, event.refund.paymentId);
      case 'dispute_changed':
        await writeDispute(unit, accountId, event.dispute);
        await payment(unit, accountId, event.dispute.paymentId);
        return subscription(unit, accountId);
      case 'other':
        return undefined;
      default:
        return event satisfies never;
    }
  };

  /** @returns false when the event was taken before */
  const apply = async (event: PaymentEvent): Promise<boolean> => {
    const accountId = await accountOfEvent(event);
    if (accountId === undefined && event.kind !== 'other')
      log.warn({ event: event.id, type: event.type }, 'an event of no account of ours');
    const isNew = await exclusively(accountId ?? 'nobody', async (unit) => {
      const { rowCount } = await unit.query(
        'insert into webhook_events (event_id, type, happened_at) values ($1, $2, $3) on conflict (event_id) do nothing',
        [event.id, event.type, rfc3339(event.createdAtMs)],
      );
      if (rowCount === 0) return false;
      if (accountId !== undefined) await act(unit, accountId, event);
      return true;
    });
    // Also for an event that was taken before: whoever took it may have died before this.
    if (accountId !== undefined) await lanes.refreshCredit(laneId.balance(accountId));
    return isNew;
  };

  return {
    apply,

    /** @throws WebhookRefused for what is not to be believed, and whatever keeps the event from being taken: then it is told again */
    receive: async (rawBody: Buffer, signature: string | undefined): Promise<void> => {
      await apply(provider.verifyWebhook(rawBody, signature));
    },

    /** Takes what no webhook told. @returns how many events that were */
    catchUp: async (sinceMs: number): Promise<number> => {
      let missed = 0;
      for await (const event of provider.listEvents(sinceMs)) if (await apply(event)) missed += 1;
      return missed;
    },

    /** Forgets events that nobody can tell of again: providers repeat a webhook for days, and list the events of a month. */
    sweep: async (): Promise<void> => {
      await pool.query('delete from webhook_events where applied_at < $1', [rfc3339(clock.now() - EVENTS_KEPT_MS)]);
    },
  };
}

const EVENTS_KEPT_MS = 90 * 86_400_000;

export type PaymentEvents = ReturnType<typeof createPaymentEvents>;

const RANK = "array_position(array['warning', 'open', 'won', 'lost'], %)";

/** Disputes cannot be read again, so their events are put in order by what they say: none of their states is ever left for an earlier one. */
async function writeDispute(unit: Unit, accountId: string, { id, paymentId, amount, status }: Dispute): Promise<void> {
  const { rowCount } = await unit.query(
    `insert into payment_disputes (dispute_id, provider_payment_id, amount_nano, status) values ($1, $2, $3, $4)
     on conflict (dispute_id) do update set status = excluded.status, amount_nano = excluded.amount_nano
     where ${RANK.replace('%', 'payment_disputes.status')} < ${RANK.replace('%', 'excluded.status')}`,
    [id, paymentId ?? '', amount.toString(), status],
  );
  if (rowCount === 0) return;
  const changes = { status, amount_usd: formatUsd(amount) };
  await recordBySystem(unit, accountId, { action: 'payment.disputed', target: { kind: 'dispute', id }, changes });
  if (status !== 'open') return;
  await mailAccount(unit, { accountId, about: `dispute:${id}` }, (db, addressed) =>
    queueMail(db, { ...addressed, template: 'payment-disputed', data: { amount_usd: formatUsd(amount) } }),
  );
}
