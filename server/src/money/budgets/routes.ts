import type {
  contract,
  KeyBudgetAlert,
  KeyBudgetChange,
  KeyBudgetStatusResponse,
  KeyBudgetSummaryItem,
  KeyBudgetSummaryResponse,
} from '@tallygate/contract';
import type { Keys } from '../../access/keys/index.ts';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { mapPage } from '../../kernel/page.ts';
import { alertKind } from './alerts.ts';
import type { BudgetAlertRow, BudgetChangeRow, BudgetRecords } from './budget-records.ts';
import type { Budgets, KeyBudget } from './budgets.ts';
import { type Period, periodOf } from './period.ts';
import { standingOf } from './standing.ts';

interface BudgetRoutesDeps {
  readonly budgets: Budgets;
  readonly records: BudgetRecords;
  readonly keys: Pick<Keys, 'get'>;
}

export function budgetRoutes({ budgets, records, keys }: BudgetRoutesDeps): Handlers<typeof contract.budgets> {
  return {
    summary: async ({ principal }) => ({ status: 200, body: toSummary(await budgets.list(principal)) }),
    get: async ({ principal, params }) => ({ status: 200, body: toStatus(await budgets.get(principal, params.key_id)) }),
    update: async (call) => ({
      status: 200,
      body: toStatus(await budgets.update(call.principal, call.params.key_id, call.body, originOf(call))),
    }),
    history: async ({ principal, params, query }) => {
      const { id } = await keys.get(principal, params.key_id);
      return { status: 200, body: mapPage(await records.changesOf(id, query), toChange) };
    },
    alerts: async ({ principal, params, query }) => {
      const { id } = await keys.get(principal, params.key_id);
      return { status: 200, body: mapPage(await records.alertsOf(id, query), toAlert) };
    },
  };
}

const usdOrNull = (amount: NanoUsd | null): string | null => (amount === null ? null : formatUsd(amount));

const toPeriod = ({ month, startsAt, resetsAt }: Period) => ({ period: month, period_start: startsAt, resets_at: resetsAt });

function toStatus({ key, period, counters }: KeyBudget): KeyBudgetStatusResponse {
  const { status, remaining, utilization } = standingOf(counters);
  return {
    key_id: key.id,
    ...toPeriod(period),
    monthly_cap_usd: usdOrNull(counters.cap),
    spent_usd: formatUsd(counters.spent),
    held_usd: formatUsd(counters.held),
    remaining_usd: usdOrNull(remaining),
    utilization,
    status,
    alert_thresholds: [...counters.alertThresholds],
  };
}

const toSummaryItem = (budget: KeyBudget): KeyBudgetSummaryItem => ({
  ...toStatus(budget),
  name: budget.key.name,
  livemode: budget.key.livemode,
  revoked: Boolean(budget.key.revokedAt),
});

export function toSummary({ period, budgets }: Awaited<ReturnType<Budgets['list']>>): KeyBudgetSummaryResponse {
  const live = budgets.filter(({ key }) => key.livemode).map(({ counters }) => counters);
  return {
    ...toPeriod(period),
    spent_usd: formatUsd(live.reduce((sum, { spent }) => sum + spent, 0n)),
    held_usd: formatUsd(live.reduce((sum, { held }) => sum + held, 0n)),
    items: budgets.map(toSummaryItem),
    total: budgets.length,
  };
}

/** Who may read a key's history may not therefore address everybody who ever changed it: enough of the id to tell two of them apart. */
const redactedId = (id: string): string => `…${id.slice(-4)}`;

const toChange = (row: BudgetChangeRow): KeyBudgetChange => ({
  change_id: row.id,
  changed_at: rfc3339(row.changed_at),
  actor: { kind: row.actor_kind, id: redactedId(row.actor_id) },
  previous_cap_usd: usdOrNull(row.previous_cap_nano_usd),
  new_cap_usd: usdOrNull(row.new_cap_nano_usd),
  previous_alert_thresholds: row.previous_alert_thresholds,
  new_alert_thresholds: row.new_alert_thresholds,
});

const toAlert = ({ id, period, threshold, cause, spent, cap_nano_usd, required, created_at }: BudgetAlertRow): KeyBudgetAlert => ({
  alert_id: id,
  period,
  threshold_percent: threshold,
  kind: alertKind(threshold),
  cause,
  spent_usd: formatUsd(BigInt(spent)),
  cap_usd: formatUsd(cap_nano_usd),
  required_usd: required === null ? null : formatUsd(BigInt(required)),
  created_at: rfc3339(created_at),
  resets_at: periodOf(period).resetsAt,
});
