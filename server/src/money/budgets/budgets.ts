import { isDeepStrictEqual } from 'node:util';
import type { KeyBudgetUpdateRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type ApiKey, type Keys, reachOf, reachOfCaller, refuseWidening } from '../../access/keys/index.ts';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, inUnit, rowsOf } from '../../kernel/statements.ts';
import { laneId } from '../ledger/index.ts';
import { dueAlerts, recordAlerts } from './alerts.ts';
import { type Period, periodAt } from './period.ts';
import type { Counters } from './standing.ts';
import { tables } from './tables.ts';

/** A key with its counters of one period. */
export interface KeyBudget {
  readonly key: ApiKey;
  readonly period: Period;
  readonly counters: Counters;
}

/** Whoever asks sees the keys of their own account and no others. */
export interface Budgets {
  /** @throws Problem `not_found`, also for another account's key */
  get(principal: Principal, keyId: string): Promise<KeyBudget>;
  /** All keys of the account, newest first, with the period that all of them are in. */
  list(principal: Principal): Promise<{ period: Period; budgets: KeyBudget[] }>;
  /**
   * Puts a budget in place of the present one. It binds every request that this process admits from now on, and within a second those of
   * the others. What changes nothing is not recorded.
   * @throws Problem `not_found`; `conflict` for a revoked key; `forbidden` for a key that would give another, or itself, more than it has,
   * and for a test key that would change a live one
   */
  update(principal: Principal, keyId: string, input: KeyBudgetUpdateRequest, origin: Origin): Promise<KeyBudget>;
}

interface BudgetsDeps {
  readonly pool: Pool;
  readonly keys: Pick<Keys, 'get' | 'list' | 'change'>;
  readonly lanes: Pick<LaneStore, 'inspect'>;
  readonly clock: Clock;
}

export function createBudgets({ pool, keys, lanes, clock }: BudgetsDeps): Budgets {
  async function budgetsOf(found: readonly ApiKey[], period: Period): Promise<KeyBudget[]> {
    const { month } = period;
    const [states, refused] = await Promise.all([
      lanes.inspect(found.map(({ id }) => laneId.key(id, month))),
      capsReachedIn(
        pool,
        found.map(({ id }) => id),
        month,
      ),
    ]);
    return found.map((key) => {
      const { spent, held } = states.get(laneId.key(key.id, month)) ?? { spent: 0n, held: 0n };
      const { monthlyCap, alertThresholds } = key;
      const counters = { cap: monthlyCap ?? null, spent, held, refusedUnder: refused.get(key.id) ?? null, alertThresholds };
      return { key, period, counters };
    });
  }

  async function budgetOf(key: ApiKey): Promise<KeyBudget> {
    const [budget] = await budgetsOf([key], periodAt(clock.now()));
    if (!budget) throw new Error('one key has one budget');
    return budget;
  }

  return {
    get: async (principal, keyId) => budgetOf(await keys.get(principal, keyId)),

    async list(principal) {
      const period = periodAt(clock.now());
      return { period, budgets: await budgetsOf(await keys.list(principal), period) };
    },

    async update(principal, keyId, input, origin) {
      const now = clock.now();
      const key = await keys.change(principal, keyId, async (found, unit) => {
        refuseChange(principal, found);
        const [caller, reach, before] = [await reachOfCaller(principal, unit), reachOf(found), budgetIn(found)];
        found.setBudget(capOf(input), input.alert_thresholds ?? found.alertThresholds);
        refuseWidening(found, reach, caller);
        const after = budgetIn(found);
        if (JSON.stringify(before) === JSON.stringify(after)) return found;
        // What follows reads the key as it will be.
        await unit.flush();
        const db = inUnit(unit);
        await db.query(
          `insert into key_budget_changes
             (id, key_id, changed_at, actor_kind, actor_id, previous_cap_nano_usd, previous_alert_thresholds, new_cap_nano_usd, new_alert_thresholds)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [newId(), keyId, rfc3339(now), actorOf(principal).kind, actorOf(principal).id, ...columnsOf(before), ...columnsOf(after)],
        );
        await recordAudit(db, {
          accountId: principal.accountId,
          actor: actorOf(principal),
          action: 'key.budget_changed',
          target: { kind: 'key', id: keyId },
          changes: changesOf(wireOf(before), wireOf(after)),
          origin,
        });
        await recordAlerts(db, await dueAlerts(db, [{ keyId, month: periodAt(now).month }], 'cap_change'), now);
        return found;
      });
      return budgetOf(key);
    },
  };
}

/** The highest cap that each of the keys has come to in the month, nano-USD. */
async function capsReachedIn(pool: Pool, keyIds: readonly string[], month: string): Promise<Map<string, NanoUsd>> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('key_budget_refusals')
      .select(['key_id', 'cap_nano_usd'])
      .where('period', '=', month)
      .where('key_id', '=', anyOf(keyIds)),
  );
  return new Map(rows.map(({ key_id, cap_nano_usd }) => [key_id, cap_nano_usd]));
}

function refuseChange(principal: Principal, key: ApiKey): void {
  if (key.revokedAt) throw new Problem('conflict', 'The API key is revoked: it spends nothing that a budget could bound.');
  // As with rotation: what is handed out for trying things must not open the purse.
  if (principal.kind === 'key' && key.livemode && !principal.livemode)
    throw new Problem('forbidden', 'A test key cannot change the budget of a live key: use a live key or a session.');
}

/** As text, so that the two sides of a change compare by what they say. */
const budgetIn = ({ monthlyCap, alertThresholds }: ApiKey) => ({ capNano: monthlyCap?.toString() ?? null, alertThresholds });
type StatedBudget = ReturnType<typeof budgetIn>;

const columnsOf = ({ capNano, alertThresholds }: StatedBudget) => [capNano, JSON.stringify(alertThresholds)];

const wireOf = ({ capNano, alertThresholds }: StatedBudget) => ({
  monthly_cap_usd: capNano === null ? null : formatUsd(BigInt(capNano)),
  alert_thresholds: alertThresholds,
});

/** Field by field, as every entry of the audit log that tells of a change. */
const changesOf = (before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(after)
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => [field, { from: before[field], to: after[field] }]),
  );

const capOf = ({ monthly_cap_usd }: KeyBudgetUpdateRequest): NanoUsd | null =>
  monthly_cap_usd === null ? null : (parseUsd(monthly_cap_usd) ?? null);
