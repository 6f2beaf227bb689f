import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { PaymentProvider } from '../../adapters/payment/port.ts';
import { type Clock, monthEnd, monthOf, rfc3339 } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import type { Exclusively, Unit } from './account-lock.ts';
import { givePlanTo } from './given-plans.ts';
import {
  type DowngradeRow,
  type PlanTermsDeps,
  planWithoutPayment,
  presentPlan,
  scheduledDowngrade,
  subscriptionRow,
} from './subscription-row.ts';
import { end, insertDowngrade, syncSubscription } from './sync-subscription.ts';
import { tables } from './tables.ts';
import type { Trail } from './tell.ts';
import type { Plan } from './tiers.ts';

interface DowngradesDeps extends PlanTermsDeps {
  readonly pool: Pool;
  readonly exclusively: Exclusively;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
  readonly log: Log;
}

export type Applied = { readonly downgradeId: string; readonly accountId: string; readonly outcome: 'applied' | 'dropped' | 'waiting' };

/** Downgrades wait for the end of what is paid for. Each carries the version of the subscription that it was decided on. */
export function createDowngrades(deps: DowngradesDeps) {
  const { pool, exclusively, provider, clock, log, book } = deps;
  /** Of what runs for many accounts: trouble with one keeps no other waiting. @returns undefined when it failed */
  const attempt = <T>(accountId: string, work: (unit: Unit) => Promise<T>): Promise<T | undefined> =>
    exclusively(accountId, work).catch((failure: unknown) => {
      log.error({ err: failure, accountId }, 'a plan could not be brought up to date and will be tried again');
      return undefined;
    });

  /** One that nobody bills (a plan that was given) ends with the month. */
  const applyGiven = async (unit: Unit, accountId: string): Promise<void> => {
    const [row, scheduled] = [await subscriptionRow(unit, accountId, deps), await scheduledDowngrade(unit, accountId)];
    if (!scheduled || scheduled.effective_at.getTime() > clock.now()) return;
    if (scheduled.based_on !== row.change_version) return end(unit, scheduled, 'dropped', clock.now());
    const isStandard = scheduled.to_plan === planWithoutPayment({ given_plan: null }, deps);
    await givePlanTo(deps, unit, row, isStandard ? null : scheduled.to_plan);
    await end(unit, scheduled, 'applied', clock.now());
  };

  return {
    async schedule(accountId: string, target: Plan, downgradeId: string, trail: Trail): Promise<DowngradeRow> {
      return exclusively(accountId, async (unit) => {
        const row = await syncSubscription(deps, unit, accountId);
        const current = presentPlan(row, deps);
        const isCancel = target.id === book.of(planWithoutPayment(row, deps)).id;
        if (book.rankOf(target) >= book.rankOf(current))
          throw new Problem('conflict', `${target.name} is no lower plan than ${current.name}: use POST /v1/plans/checkout to upgrade.`);
        if (row.subscription_id === null) {
          const scheduled = await scheduledDowngrade(unit, accountId);
          if (scheduled?.to_plan === target.id && scheduled.based_on === row.change_version) return scheduled;
          if (scheduled) await end(unit, scheduled, 'canceled', clock.now());
          await insertDowngrade(unit, {
            accountId,
            from: current.id,
            to: target.id,
            effectiveAt: monthEnd(monthOf(clock.now())).getTime(),
            basedOn: row.change_version,
            now: clock.now(),
          });
        } else {
          const command = { subscriptionId: row.subscription_id, idempotencyKey: `downgrade:${downgradeId}` };
          if (isCancel) await provider.cancelSubscription({ ...command, at: 'period_end' });
          else await provider.scheduleChange({ ...command, plan: { planId: target.id, version: target.version } });
          await syncSubscription(deps, unit, accountId);
        }
        const made = await scheduledDowngrade(unit, accountId);
        if (!made) throw new Problem('payments_unavailable', 'The payment provider did not keep the downgrade: ask again.');
        await trail(unit, {
          action: isCancel ? 'plan.canceled' : 'downgrade.scheduled',
          target: { kind: 'downgrade', id: made.downgrade_id },
          changes: { plan: { from: made.from_plan, to: made.to_plan }, effective_at: rfc3339(made.effective_at) },
        });
        return made;
      });
    },

    /** Also of a cancellation. Without effect where nothing is scheduled. */
    async cancel(accountId: string, commandId: string, trail: Trail): Promise<void> {
      await exclusively(accountId, async (unit) => {
        const row = await syncSubscription(deps, unit, accountId);
        const scheduled = await scheduledDowngrade(unit, accountId);
        if (!scheduled) return;
        await trail(unit, {
          action: row.cancels_at_period_end ? 'plan.resumed' : 'downgrade.canceled',
          target: { kind: 'downgrade', id: scheduled.downgrade_id },
        });
        if (row.subscription_id === null) return end(unit, scheduled, 'canceled', clock.now());
        const command = { subscriptionId: row.subscription_id, idempotencyKey: `keep:${commandId}` };
        if (row.cancels_at_period_end) await provider.resumeSubscription(command);
        else await provider.releaseSchedule(command);
        await syncSubscription(deps, unit, accountId);
      });
    },

    /** What is due. A downgrade never overrides a newer change of plan; asked twice, the second time finds nothing. */
    async apply(limit: number, signal?: AbortSignal): Promise<Applied[]> {
      const rows = await rowsOf(
        pool,
        tables
          .selectFrom('scheduled_downgrades')
          .select(['downgrade_id', 'account_id'])
          .where('state', '=', 'scheduled')
          .where('effective_at', '<=', new Date(clock.now()))
          .orderBy('effective_at')
          .limit(limit),
      );
      const applied: Applied[] = [];
      for (const { downgrade_id, account_id } of rows) {
        if (signal?.aborted) break;
        const state = await attempt(account_id, async (unit) => {
          const { subscription_id } = await subscriptionRow(unit, account_id, deps);
          if (subscription_id === null) await applyGiven(unit, account_id);
          else await syncSubscription(deps, unit, account_id);
          const downgrade = tables.selectFrom('scheduled_downgrades').select('state').where('downgrade_id', '=', downgrade_id);
          return (await firstOf(unit, downgrade))?.state;
        });
        const outcome = state === 'applied' ? 'applied' : state === undefined || state === 'scheduled' ? 'waiting' : 'dropped';
        applied.push({ downgradeId: downgrade_id, accountId: account_id, outcome });
      }
      return applied;
    },

    /** Nobody is charged again for an account that was closed; what is paid is not returned. */
    async endClosed(signal?: AbortSignal): Promise<void> {
      const rows = await rowsOf(
        pool,
        tables
          .selectFrom('subscriptions as s')
          .select('account_id')
          .where('subscription_id', 'is not', null)
          .where('cancels_at_period_end', '=', false)
          .where(sql<SqlBool>`not exists (select from users u where u.account_id = s.account_id and u.closed_at is null)`),
      );
      for (const { account_id } of rows) {
        if (signal?.aborted) return;
        await attempt(account_id, async (unit) => {
          const row = await syncSubscription(deps, unit, account_id);
          if (row.subscription_id === null || row.cancels_at_period_end) return;
          const { subscription_id: subscriptionId } = row;
          await provider.cancelSubscription({ subscriptionId, at: 'period_end', idempotencyKey: `closed:${subscriptionId}` });
          await syncSubscription(deps, unit, account_id);
        });
      }
    },

    /** Plans whose renewal was declined for too long. */
    async endGrace(signal?: AbortSignal): Promise<void> {
      const rows = await rowsOf(
        pool,
        tables
          .selectFrom('subscriptions as s')
          .innerJoin('accounts as a', 'a.id', 's.account_id')
          .select('s.account_id')
          .where('grace_ends_at', '<=', new Date(clock.now()))
          .whereRef('a.plan', 'is distinct from', 'a.given_plan'),
      );
      for (const { account_id } of rows) {
        if (signal?.aborted) return;
        await attempt(account_id, (unit) => syncSubscription(deps, unit, account_id));
      }
    },
  };
}
