import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { PaymentFault, type PaymentProvider, type RefundOutcome } from '../../adapters/payment/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { laneId } from '../ledger/index.ts';
import type { Exclusively } from './account-lock.ts';
import { beginCommand, COMMANDS, commandOfRequest, detailed, endCommand, type PaymentCommand, requestHashOf } from './payment-commands.ts';
import type { RefundDetails } from './return-payment.ts';
import { type OnPurchase, syncPayment } from './sync-payment.ts';
import { type Author, trailBy } from './tell.ts';
import type { PaymentRow } from './wire.ts';

/** How long a request has to carry its refund out before it is gone on with here. */
const LEFT_ALONE_MS = 30_000;

type Refund = PaymentCommand<RefundDetails>;

interface RefundsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPurchase: OnPurchase | undefined;
}

export interface RefundOrder {
  readonly payment: Pick<PaymentRow, 'payment_id' | 'provider_id' | 'account_id'>;
  readonly amount: NanoUsd | undefined;
  readonly reason: string;
  readonly author: Author;
  /** The caller's `Idempotency-Key`. */
  readonly key: string | undefined;
}

/** Returns payments, by hand or because nothing can be had for them. Who wanted it, why and how much is on record first; the provider's idempotency key follows from that record. */
export function createPaymentRefunds({ pool, exclusively, provider, lanes, clock, log, onPurchase }: RefundsDeps) {
  const begin = ({ amount, author, key, payment, reason }: RefundOrder): Promise<{ refund: Refund; isNew: boolean }> =>
    exclusively(payment.account_id, async (unit) => {
      const amountUsd = amount === undefined ? null : formatUsd(amount);
      const requestHash = requestHashOf(author, key, 'refund', payment.payment_id, amountUsd, reason);
      const known = await commandOfRequest<RefundDetails>(unit, requestHash);
      if (known) return { refund: known, isNew: false };
      const underWay = COMMANDS.where('kind', '=', 'refund').where('subject', '=', payment.payment_id);
      const found = await firstOf(unit, underWay.where('state', '=', 'begun'));
      if (found) {
        const open = { ...found, ...detailed<RefundDetails>(found) };
        const isSame =
          open.details.amount_usd === amountUsd && open.details.reason === reason && open.details.author.actor.id === author.actor.id;
        // Without keys, one who asks for the same again while it is not known how the first ended means the first.
        if (isSame && key === undefined && open.request_hash === null) return { refund: open, isNew: false };
        throw new Problem('conflict', 'Another refund of this payment is under way: repeat the request in a minute.');
      }
      const details = { provider_id: payment.provider_id, amount_usd: amountUsd, reason, author };
      const order = { kind: 'refund', accountId: payment.account_id, subject: payment.payment_id, details, requestHash } as const;
      return { refund: await beginCommand(unit, order, clock), isNew: true };
    });

  /** The key holds at the provider for a day; what an earlier attempt did is found by its reference for ever. */
  const ask = async ({ command_id, details }: Refund, isNew: boolean): Promise<RefundOutcome> => {
    const reference = `refund:${command_id}`;
    const done = isNew ? undefined : await provider.findRefund(details.provider_id, reference);
    if (done) return { refunded: true, refund: done };
    const amount = details.amount_usd === null ? undefined : parseUsd(details.amount_usd);
    try {
      return await provider.refund({
        paymentId: details.provider_id,
        ...(amount !== undefined && { amount }),
        reference,
        idempotencyKey: reference,
      });
    } catch (failure) {
      // What can never succeed must not stand in the way of the next.
      if (failure instanceof PaymentFault && failure.kind !== 'unavailable' && failure.kind !== 'unauthorised')
        return { refunded: false, reason: 'not_paid', message: failure.message };
      throw failure;
    }
  };

  const carryOut = async (refund: Refund, isNew: boolean): Promise<void> => {
    if (refund.state === 'done') return;
    if (refund.state === 'refused') throw refused(refund.refusal);
    const { account_id: accountId, command_id: commandId, details, subject } = refund;
    const outcome = await ask(refund, isNew);
    await exclusively(accountId, async (unit) => {
      if (!(await endCommand(unit, commandId, clock, outcome.refunded ? undefined : outcome.message)) || !outcome.refunded) return;
      const changes = { reason: details.reason, amount_usd: formatUsd(outcome.refund.amount) };
      await trailBy(details.author, accountId)(unit, { action: 'payment.refunded', target: { kind: 'payment', id: subject }, changes });
      await syncPayment({ provider, clock, onPurchase }, unit, accountId, details.provider_id);
    });
    if (!outcome.refunded) throw refused(outcome.message);
    await lanes.refreshCredit(laneId.balance(accountId));
  };

  return {
    /** @throws Problem `conflict` when nothing could be returned, PaymentFault when it is not known yet */
    async order(order: RefundOrder): Promise<void> {
      const { isNew, refund } = await begin(order);
      await carryOut(refund, isNew);
    },

    /** Carries out what goes back by itself, and ends what a lost answer or a death has left half done. */
    async goOn(signal?: AbortSignal): Promise<void> {
      const left = new Date(clock.now() - LEFT_ALONE_MS);
      const rows = await rowsOf(
        pool,
        COMMANDS.where('kind', '=', 'refund')
          .where('state', '=', 'begun')
          .where((eb) => eb.or([eb('begun_at', '<=', left), sql<SqlBool>`details #>> '{author,actor,kind}' = 'system'`]))
          .orderBy('begun_at'),
      );
      for (const refund of rows.map((row) => detailed<RefundDetails>(row))) {
        if (signal?.aborted) return;
        await carryOut(refund, false).catch((failure: unknown) => {
          if (failure instanceof Problem) return;
          log.warn({ err: failure, commandId: refund.command_id }, 'a refund could not be ended and will be tried again');
        });
      }
    },
  };
}

const refused = (message: string | null): Problem => new Problem('conflict', `Nothing was returned: ${message ?? 'the provider refused'}`);
