import type { Pool } from 'pg';
import type { LaneStore } from '../adapters/lanes/port.ts';
import type { PaymentProvider } from '../adapters/payment/port.ts';
import { queueMail } from '../identity/index.ts';
import { type Clock, rfc3339 } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../kernel/money.ts';
import { laneId } from '../ledger/index.ts';
import type { Exclusively } from './account-lock.ts';
import { moneyFigures } from './figures.ts';
import { syncPayment } from './sync-payment.ts';
import { mailAccount, type Trail } from './tell.ts';

interface AutoTopupDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
}

export interface AutoTopupSettings {
  readonly enabled: boolean;
  readonly threshold: NanoUsd;
  readonly amount: NanoUsd;
}

export interface AutoTopupRow {
  readonly account_id: string;
  readonly enabled: boolean;
  readonly threshold_nano: bigint;
  readonly amount_nano: bigint;
  readonly attempt_id: string | null;
  readonly provider_id: string | null;
  readonly decline: string | null;
}

/** Charges the saved card of accounts whose balance is below their threshold. A declined card is not tried again until its owner says so. */
export function createAutoTopup({ pool, exclusively, provider, lanes, clock }: AutoTopupDeps) {
  const read = async (accountId: string): Promise<AutoTopupRow | undefined> => {
    const { rows } = await pool.query<AutoTopupRow>('select * from auto_topups where account_id = $1', [accountId]);
    return rows[0];
  };

  /** Written before the card is charged: after a crash the same charge is asked for again, which is then made once. */
  const begin = (accountId: string): Promise<AutoTopupRow | undefined> =>
    exclusively(accountId, async (unit) => {
      const { rows } = await unit.query<AutoTopupRow>('select * from auto_topups where account_id = $1 for update', [accountId]);
      const [row] = rows;
      if (!row?.enabled || row.decline !== null) return undefined;
      if (row.attempt_id !== null) return row;
      const { balance } = await moneyFigures({ query: unit.query.bind(unit) }, accountId);
      if (balance >= row.threshold_nano) return undefined;
      const attempt = newId();
      await unit.query('update auto_topups set attempt_id = $2, attempted_at = $3, provider_id = null where account_id = $1', [
        accountId,
        attempt,
        rfc3339(clock.now()),
      ]);
      return { ...row, attempt_id: attempt, provider_id: null };
    });

  const finish = (
    attempt: AutoTopupRow,
    fields: { readonly paymentId?: string | undefined; readonly decline?: string; readonly isOver: boolean },
  ) =>
    exclusively(attempt.account_id, async (unit) => {
      const accountId = attempt.account_id;
      if (fields.paymentId !== undefined) await syncPayment({ provider, clock }, unit, accountId, fields.paymentId);
      await unit.query(
        `update auto_topups set provider_id = $2, decline = $3, attempt_id = case when $4 then null else attempt_id end where account_id = $1`,
        [accountId, fields.paymentId ?? null, fields.decline ?? null, fields.isOver],
      );
      const { decline } = fields;
      if (decline === undefined) return;
      const data = { amount_usd: formatUsd(attempt.amount_nano), decline };
      await mailAccount(unit, { accountId, about: `top-up:${attempt.attempt_id}` }, (execute, addressed) =>
        queueMail(execute, { ...addressed, template: 'top-up-declined', data }),
      );
    });

  const charge = async (accountId: string): Promise<void> => {
    const row = await begin(accountId);
    if (!row?.attempt_id) return;
    if (row.provider_id !== null) {
      const payment = await provider.readPayment(row.provider_id);
      if (!payment || payment.status === 'pending') return;
      const declined = payment.status !== 'succeeded';
      await finish(row, {
        paymentId: row.provider_id,
        isOver: true,
        ...(declined && { decline: payment.decline?.message ?? 'The payment failed.' }),
      });
    } else {
      const { rows } = await pool.query<{ customer_id: string | null }>('select customer_id from subscriptions where account_id = $1', [
        accountId,
      ]);
      const customerId = rows[0]?.customer_id;
      const outcome = customerId
        ? await provider.chargeOffSession({
            accountId,
            customerId,
            reference: `topup:${row.attempt_id}`,
            amount: row.amount_nano,
            description: 'Automatic top-up of the balance',
            idempotencyKey: `topup:${row.attempt_id}`,
          })
        : ({ charged: false, decline: { message: 'No card is saved.' } } as const);
      if (outcome.charged === false) await finish(row, { decline: outcome.decline.message, isOver: true });
      else await finish(row, { paymentId: outcome.payment.id, isOver: outcome.charged === true });
    }
    await lanes.refreshCredit(laneId.balance(accountId));
  };

  return {
    read,
    charge,

    set: (accountId: string, { enabled, threshold, amount }: AutoTopupSettings, trail: Trail): Promise<void> =>
      exclusively(accountId, async (unit) => {
        await unit.query(
          `insert into auto_topups (account_id, enabled, threshold_nano, amount_nano) values ($1, $2, $3, $4)
           on conflict (account_id) do update set enabled = $2, threshold_nano = $3, amount_nano = $4, decline = null`,
          [accountId, enabled, threshold.toString(), amount.toString()],
        );
        const changes = { enabled, threshold_usd: formatUsd(threshold), amount_usd: formatUsd(amount) };
        await trail(unit, { action: 'auto_topup.changed', target: { kind: 'account', id: accountId }, changes });
      }),

    /** All that are due. Nothing new is charged to an account that was closed. */
    async run(signal?: AbortSignal): Promise<void> {
      const { rows } = await pool.query<{ account_id: string }>(
        `select account_id from auto_topups t where enabled and decline is null and (attempt_id is not null or (threshold_nano >
           (select coalesce(sum(amount_nano), 0) from ledger_daily where account in ('customer_balance:' || t.account_id, 'debt:' || t.account_id))
           and exists (select from users u where u.account_id = t.account_id and u.closed_at is null)))`,
      );
      for (const { account_id } of rows) {
        if (signal?.aborted) return;
        await charge(account_id);
      }
    },
  };
}
