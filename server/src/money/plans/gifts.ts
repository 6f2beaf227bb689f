import type { Pool } from 'pg';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { type Clock, dayOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { bookMoney, laneId } from '../ledger/index.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { givePlanTo } from './given-plans.ts';
import { type PlanTermsDeps, planWithoutPayment, subscriptionRow } from './subscription-row.ts';
import { tables } from './tables.ts';
import { recordBySystem } from './tell.ts';
import type { Plan } from './tiers.ts';

/** What an account is given and does not pay for. */
export interface Gift {
  /** What it is given for: a credit of one cause is booked once, or the database refuses it. */
  readonly cause: string;
  readonly trial?: { readonly plan: Plan; readonly endsAt: Date };
  readonly credit: NanoUsd;
}

interface TrialRow {
  readonly trial_id: string;
  readonly account_id: string;
  readonly plan_id: string;
  /** Null: what accounts have that were given none. */
  readonly back_to: string | null;
  readonly ends_at: Date;
}

interface GiftsDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
}

/** The trial that an account is in, if it is in one. */
export async function runningTrial(unit: Unit, accountId: string): Promise<TrialRow | undefined> {
  return firstOf(unit, tables.selectFrom('plan_trials').selectAll().where('account_id', '=', accountId).where('ended_at', 'is', null));
}

/** Credits and trials. Neither is ever taken for a payment. */
export function createGifts(deps: GiftsDeps) {
  const { pool, exclusively, lanes, clock, book } = deps;
  const addCredit = async (unit: Unit, accountId: string, { cause, credit }: Gift): Promise<void> => {
    if (credit === 0n) return;
    await bookMoney(unit, {
      cause: { kind: 'promotion', id: cause, attempt: 0 },
      day: dayOf(clock.now()),
      entries: [
        { account: 'promotions', amount: -credit },
        { account: `customer_balance:${accountId}`, amount: credit },
      ],
      credit: { accountId, amount: credit },
    });
    const changes = { amount_usd: formatUsd(credit) };
    await recordBySystem(unit, accountId, { action: 'balance.credited', target: { kind: 'promotion', id: cause }, changes });
  };

  /** A plan that is paid for stands, and so does one that is as good; the longer of two trials of one plan counts. */
  const beginTrial = async (unit: Unit, accountId: string, { plan, endsAt }: NonNullable<Gift['trial']>): Promise<void> => {
    const row = await subscriptionRow(unit, accountId, deps);
    const running = await runningTrial(unit, accountId);
    const isBetter = book.rankOf(plan) > book.rankOf(book.of(planWithoutPayment(row, deps)));
    if (row.subscription_id !== null || (running?.plan_id !== plan.id && !isBetter)) return;
    if (running)
      await unit.query(
        'update plan_trials set plan_id = $2, ends_at = case plan_id when $2 then greatest(ends_at, $3) else $3 end where trial_id = $1',
        [...[running.trial_id, plan.id, endsAt]],
      );
    else
      await unit.query('insert into plan_trials (trial_id, account_id, plan_id, back_to, ends_at) values ($1, $2, $3, $4, $5)', [
        ...[newId(), accountId, plan.id, row.given_plan, endsAt],
      ]);
    if (running?.plan_id !== plan.id) await givePlanTo(deps, unit, row, plan.id);
  };

  const endTrial = async (unit: Unit, accountId: string): Promise<void> => {
    const trial = await runningTrial(unit, accountId);
    const row = await subscriptionRow(unit, accountId, deps);
    if (!trial || trial.ends_at.getTime() > clock.now()) return;
    await unit.query('update plan_trials set ended_at = $2 where trial_id = $1', [trial.trial_id, new Date(clock.now())]);
    // Whoever has ended it by a change of their own keeps that.
    if (row.given_plan !== trial.plan_id) return;
    if (row.subscription_id === null) return givePlanTo(deps, unit, row, trial.back_to);
    // What is paid for goes on; it is what comes after it that changes.
    await unit.query('update accounts set given_plan = $2 where id = $1', [accountId, trial.back_to]);
  };

  return {
    /**
     * Gives it, and writes down that it was given, in one transaction; the lanes see a credit once this resolves.
     * @param alongside returns false where it was given before: then nothing is
     */
    async give(accountId: string, gift: Gift, alongside: (unit: Unit) => Promise<boolean>): Promise<void> {
      await exclusively(accountId, async (unit) => {
        if (!(await alongside(unit))) return;
        await addCredit(unit, accountId, gift);
        if (gift.trial) await beginTrial(unit, accountId, gift.trial);
      });
      if (gift.credit !== 0n) await lanes.refreshCredit(laneId.balance(accountId));
    },

    /** Puts accounts whose trial is over back on the plan from before. */
    async endTrials(signal?: AbortSignal): Promise<void> {
      const over = tables.selectFrom('plan_trials').select('account_id').where('ended_at', 'is', null);
      const rows = await rowsOf(pool, over.where('ends_at', '<=', new Date(clock.now())).orderBy('ends_at').limit(1000));
      for (const { account_id } of rows) {
        if (signal?.aborted) return;
        await exclusively(account_id, (unit) => endTrial(unit, account_id));
      }
    },
  };
}
