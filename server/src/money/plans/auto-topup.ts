import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { type ChargeOutcome, type Payment, PaymentFault, type PaymentProvider } from '../../adapters/payment/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import { laneId } from '../ledger/index.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { moneyFigures } from './figures.ts';
import { requireFeature } from './plan-book.ts';
import type { PlanTermsDeps } from './subscription-row.ts';
import { syncPayment } from './sync-payment.ts';
import { tables } from './tables.ts';
import { mailAccount, type Trail } from './tell.ts';

const DAY_MS = 86_400_000;
/** Well within the day for which the provider remembers a key: a charge is not asked for under one that may be forgotten. */
const KEY_GOOD_MS = DAY_MS / 2;
/** After so long nobody is still asking for a charge. */
const ASKED_MS = 5 * 60_000;

interface AutoTopupDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface AutoTopupSettings {
  readonly enabled: boolean;
  readonly threshold: NanoUsd;
  readonly amount: NanoUsd;
  /** Of 24 hours. */
  readonly dailyMaximum: NanoUsd;
}

export interface AutoTopupRow {
  readonly account_id: string;
  readonly enabled: boolean;
  readonly threshold_nano: bigint;
  readonly amount_nano: bigint;
  readonly daily_maximum_nano: bigint;
  readonly attempt_id: string | null;
  readonly provider_id: string | null;
  readonly decline: string | null;
}

interface PlanRow {
  readonly plan: string | null;
  readonly given_plan: string | null;
}

/** A charge under way. Its amount is its own: the settings may change while it is not known how it ended. */
interface Attempt extends AutoTopupRow {
  readonly attempt_id: string;
  readonly attempt_nano: bigint;
  readonly attempted_at: Date;
  readonly customer_id: string | null;
  readonly isNew: boolean;
}

/** Charges the saved card of accounts whose balance is below their threshold. A declined card is not tried again until its owner says so. */
export function createAutoTopup({ pool, exclusively, provider, lanes, clock, log, book, planOfAccount }: AutoTopupDeps) {
  const chargedToday = async (unit: Queryable, accountId: string): Promise<NanoUsd> => {
    const charged = tables
      .selectFrom('payments')
      .select(({ fn }) => fn.sum<string | null>('amount_nano').as('sum'))
      .where('account_id', '=', accountId)
      .where('kind', '=', 'auto_topup')
      .where('status', 'in', ['succeeded', 'pending'])
      .where('created_at', '>', new Date(clock.now() - DAY_MS));
    return BigInt((await firstOf(unit, charged))?.sum ?? 0);
  };

  const planOfRow = (row: PlanRow | undefined) => book.of(planOfAccount({ plan: row?.plan ?? null, givenPlan: row?.given_plan ?? null }));

  const isBelow = async (unit: Unit, { account_id, threshold_nano }: AutoTopupRow): Promise<boolean> =>
    (await moneyFigures({ query: unit.query.bind(unit) }, account_id)).balance < threshold_nano;

  const mayCharge = async (unit: Unit, row: AutoTopupRow & PlanRow): Promise<boolean> =>
    planOfRow(row).features.has('auto_topup') &&
    (await isBelow(unit, row)) &&
    (await chargedToday(unit, row.account_id)) + row.amount_nano <= row.daily_maximum_nano;

  /** Written before the card is charged: after a crash the same charge is asked for again, which is then made once. */
  const begin = (accountId: string): Promise<Attempt | undefined> =>
    exclusively(accountId, async (unit) => {
      const row = await firstOf(
        unit,
        tables
          .selectFrom('auto_topups as t')
          .innerJoin('accounts as a', 'a.id', 't.account_id')
          .leftJoin('subscriptions as s', 's.account_id', 't.account_id')
          .selectAll('t')
          .select(['a.plan', 'a.given_plan', 's.customer_id'])
          .where('t.account_id', '=', accountId)
          .forUpdate('t'),
      );
      if (!row?.enabled || row.decline !== null) return undefined;
      const { attempt_id, attempt_nano, attempted_at } = row;
      if (attempt_id !== null) {
        if (attempt_nano === null || attempted_at === null) throw new Error(`The top-up ${attempt_id} has no amount`);
        return { ...row, attempt_id, attempt_nano, attempted_at, isNew: false };
      }
      if (!(await mayCharge(unit, row))) return undefined;
      const made = { attempt_id: newId(), attempt_nano: row.amount_nano, attempted_at: new Date(clock.now()), provider_id: null };
      await unit.query(
        'update auto_topups set attempt_id = $2, attempt_nano = $3, attempted_at = $4, provider_id = null where account_id = $1',
        [accountId, made.attempt_id, made.attempt_nano.toString(), made.attempted_at],
      );
      return { ...row, ...made, isNew: true };
    });

  const finish = (
    attempt: Attempt,
    fields: { readonly paymentId?: string | undefined; readonly decline?: string; readonly isOver: boolean },
  ) =>
    exclusively(attempt.account_id, async (unit) => {
      const { account_id: accountId, attempt_id: attemptId } = attempt;
      if (fields.paymentId !== undefined) await syncPayment({ provider, clock }, unit, accountId, fields.paymentId);
      const { rowCount } = await unit.query(
        `update auto_topups set provider_id = $3, decline = $4, attempt_id = case when $5 then null else attempt_id end
          where account_id = $1 and attempt_id = $2`,
        [accountId, attemptId, fields.paymentId ?? null, fields.decline ?? null, fields.isOver],
      );
      const { decline } = fields;
      if (decline === undefined || rowCount === 0) return;
      const data = { amount_usd: formatUsd(attempt.attempt_nano), decline };
      await mailAccount(unit, { accountId, about: `top-up:${attemptId}` }, (db, addressed) =>
        queueMail(db, { ...addressed, template: 'top-up-declined', data }),
      );
    });

  const finishAs = (attempt: Attempt, { decline, id, status }: Payment): Promise<void> => {
    const isOver = status !== 'pending';
    const declined = isOver && status !== 'succeeded';
    return finish(attempt, { paymentId: id, isOver, ...(declined && { decline: decline?.message ?? 'The payment failed.' }) });
  };

  const ask = async ({ account_id: accountId, attempt_id, attempt_nano, customer_id }: Attempt): Promise<ChargeOutcome> => {
    if (customer_id === null)
      return { charged: false, decline: { reason: 'no_payment_method', message: 'No card is saved.', paymentId: undefined } };
    return provider.chargeOffSession({
      ...{ accountId, customerId: customer_id, amount: attempt_nano, description: 'Automatic top-up of the balance' },
      ...{ reference: `topup:${attempt_id}`, idempotencyKey: `topup:${attempt_id}` },
    });
  };

  const chargeFor = async (attempt: Attempt): Promise<void> => {
    const outcome = await ask(attempt);
    if (outcome.charged === false) await finish(attempt, { decline: outcome.decline.message, isOver: true });
    else await finish(attempt, { paymentId: outcome.payment.id, isOver: outcome.charged === true });
  };

  /** It is not known whether it was charged: the payment is looked for first, and without one there may be no reason any more. */
  const resume = async (attempt: Attempt): Promise<void> => {
    const { account_id: accountId, attempt_id, attempted_at, customer_id, provider_id } = attempt;
    const [ageMs, sinceMs] = [clock.now() - attempted_at.getTime(), attempted_at.getTime() - DAY_MS];
    const wanted = customer_id === null ? undefined : { customerId: customer_id, reference: `topup:${attempt_id}`, sinceMs };
    const payment = provider_id !== null ? await provider.readPayment(provider_id) : wanted && (await provider.findPayment(wanted));
    if (payment) return finishAs(attempt, payment);
    const isStillDue = ageMs < KEY_GOOD_MS && (await exclusively(accountId, (unit) => isBelow(unit, attempt)));
    if (!isStillDue) return finish(attempt, { isOver: true });
    try {
      await chargeFor(attempt);
    } catch (failure) {
      // Another card was saved meanwhile, say: nothing can be charged under this key any more, and nothing was.
      if (!(failure instanceof PaymentFault) || failure.kind !== 'idempotency_conflict' || ageMs < ASKED_MS) throw failure;
      await finish(attempt, { isOver: true });
    }
  };

  const charge = async (accountId: string): Promise<void> => {
    const attempt = await begin(accountId);
    if (!attempt) return;
    await (attempt.isNew ? chargeFor(attempt) : resume(attempt));
    await lanes.refreshCredit(laneId.balance(accountId));
  };

  return {
    /** @returns the settings, and what was charged in the last 24 hours */
    async read(accountId: string): Promise<(AutoTopupRow & { readonly charged: NanoUsd }) | undefined> {
      const row = await firstOf(pool, tables.selectFrom('auto_topups').selectAll().where('account_id', '=', accountId));
      return row && { ...row, charged: await chargedToday(pool, accountId) };
    },

    /** @throws Problem `plan_required` when it is switched on and the plan does not have it */
    set: (accountId: string, { enabled, threshold, amount, dailyMaximum }: AutoTopupSettings, trail: Trail): Promise<void> =>
      exclusively(accountId, async (unit) => {
        const account = await firstOf(unit, tables.selectFrom('accounts').select(['plan', 'given_plan']).where('id', '=', accountId));
        if (enabled) requireFeature(book, planOfRow(account), 'auto_topup');
        await unit.query(
          `insert into auto_topups (account_id, enabled, threshold_nano, amount_nano, daily_maximum_nano) values ($1, $2, $3, $4, $5)
           on conflict (account_id) do update
             set enabled = $2, threshold_nano = $3, amount_nano = $4, daily_maximum_nano = $5, decline = null`,
          [accountId, enabled, threshold.toString(), amount.toString(), dailyMaximum.toString()],
        );
        const amounts = { threshold_usd: formatUsd(threshold), amount_usd: formatUsd(amount), daily_maximum_usd: formatUsd(dailyMaximum) };
        const target = { kind: 'account', id: accountId };
        await trail(unit, { action: 'auto_topup.changed', target, changes: { enabled, ...amounts } });
      }),

    /** All that are due. Nothing new is charged to an account that was closed, and trouble with one keeps no other waiting. */
    async run(signal?: AbortSignal): Promise<void> {
      const rows = await rowsOf(
        pool,
        tables
          .selectFrom('auto_topups as t')
          .select('account_id')
          .where(
            sql<SqlBool>`enabled and decline is null and (attempt_id is not null or (threshold_nano >
              (select coalesce(sum(amount_nano), 0) from ledger_daily where account in ('customer_balance:' || t.account_id, 'debt:' || t.account_id))
              and exists (select from users u where u.account_id = t.account_id and u.closed_at is null)))`,
          ),
      );
      for (const { account_id: accountId } of rows) {
        if (signal?.aborted) return;
        await charge(accountId).catch((failure: unknown) =>
          log.error({ err: failure, accountId }, 'a balance could not be topped up and will be tried again'),
        );
      }
    },
  };
}
