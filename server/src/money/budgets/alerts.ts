import * as z from 'zod';
import { dayOf, type Month, monthEnd, monthStart, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, type NanoUsd } from '../../kernel/money.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { queueMail } from '../../mail/index.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { periodOf } from './period.ts';

export type AlertCause = 'spend' | 'cap_change' | 'refusal';

/** 100 % and not 99: there is nothing beyond it. A refusal without a threshold is a warning. */
export const alertKind = (threshold: number | null): 'warning' | 'exceeded' => (threshold === 100 ? 'exceeded' : 'warning');

/** A key in a period in which it was used. */
export interface KeyPeriod {
  readonly keyId: string;
  readonly month: Month;
}

/** An alert that is due and not recorded yet. */
export interface DueAlert extends KeyPeriod {
  readonly cause: AlertCause;
  /** Percent of the cap that was reached; null: none was, a request was refused far below the cap. */
  readonly threshold: number | null;
  readonly spent: NanoUsd;
  readonly cap: NanoUsd;
  /** What had to be held for the refused request; null unless a refusal is the cause. */
  readonly required: NanoUsd | null;
}

const Amount = z.string().transform(BigInt);
const DueRow = z.object({ key_id: z.string(), month: z.string(), threshold: z.number(), spent: Amount, cap: Amount });

/** The thresholds of keys that were reached. By the ledger, which the lanes equal once everything that was settled is written. */
export async function dueAlerts(db: Queryable, uses: readonly KeyPeriod[], cause: 'spend' | 'cap_change'): Promise<DueAlert[]> {
  const rows = await checkedRows(
    db,
    DueRow,
    `select k.id as key_id, use.month, t.threshold::int as threshold, used.nano::text as spent, k.monthly_cap_nano_usd::text as cap
       from jsonb_to_recordset($1::jsonb) as use (key_id uuid, month text, first_day date, next_day date)
       join api_keys k on k.id = use.key_id and k.monthly_cap_nano_usd > 0
       cross join lateral (
         select coalesce(sum(cost_nano), 0) as nano from usage_daily
          where usage_daily.key_id = use.key_id and day >= use.first_day and day < use.next_day
       ) used
       cross join lateral unnest(k.alert_thresholds) as t (threshold)
      where used.nano * 100 >= k.monthly_cap_nano_usd::numeric * t.threshold
        and not exists (
          select from key_budget_alerts a where a.key_id = k.id and a.period = use.month and a.threshold = t.threshold
        )
      order by k.id, use.month, t.threshold`,
    [JSON.stringify(uses.map(({ keyId, month }) => ({ key_id: keyId, month, ...daysOf(month) })))],
  );
  return rows.map(({ key_id, ...due }) => ({ keyId: key_id, ...due, cause, required: null }));
}

const daysOf = (month: Month) => ({ first_day: dayOf(monthStart(month).getTime()), next_day: dayOf(monthEnd(month).getTime()) });

const RecordedRow = z.object({ id: z.string() });

/**
 * Records alerts and queues their mails, in the caller's transaction. An alert that is recorded already is passed over; of several that a
 * key reaches at once the highest is mailed, since the others would say less of the same.
 */
export async function recordAlerts(db: Queryable, alerts: readonly DueAlert[], now: number): Promise<void> {
  if (alerts.length === 0) return;
  const byId = new Map(alerts.map((alert) => [newId(), alert]));
  const recorded = await checkedRows(
    db,
    RecordedRow,
    `insert into key_budget_alerts (id, key_id, period, threshold, cause, spent_nano_usd, cap_nano_usd, required_nano_usd, created_at)
     select id, key_id, period, threshold, cause, spent_nano_usd, cap_nano_usd, required_nano_usd, created_at
       from jsonb_populate_recordset(null::key_budget_alerts, $1::jsonb)
     on conflict do nothing returning id`,
    [JSON.stringify([...byId].map(([id, alert]) => alertRow(id, alert, now)))],
  );
  const fresh = recorded.flatMap(({ id }) => byId.get(id) ?? []);
  await mailOwners(db, highestOf(fresh));
  await tellWebhooks(db, fresh);
}

const alertRow = (id: string, { keyId, month, threshold, cause, spent, cap, required }: DueAlert, now: number) => ({
  id,
  key_id: keyId,
  period: month,
  threshold,
  cause,
  spent_nano_usd: spent.toString(),
  cap_nano_usd: cap.toString(),
  required_nano_usd: required?.toString() ?? null,
  created_at: rfc3339(now),
});

/** Of each key and month the alert of the highest threshold. */
function highestOf(alerts: readonly DueAlert[]): DueAlert[] {
  const highest = new Map<string, DueAlert>();
  for (const alert of alerts) {
    const slot = `${alert.keyId} ${alert.month}`;
    if ((alert.threshold ?? 0) >= (highest.get(slot)?.threshold ?? 0)) highest.set(slot, alert);
  }
  return [...highest.values()];
}

const RecipientRow = z.object({ key_id: z.string(), key_name: z.string(), account_id: z.string(), user_id: z.string(), email: z.string() });

/** Those who see what the account spends are told, and the person whose key it is. */
async function mailOwners(db: Queryable, alerts: readonly DueAlert[]): Promise<void> {
  if (alerts.length === 0) return;
  const people = await checkedRows(
    db,
    RecipientRow,
    `select k.id as key_id, k.name as key_name, k.account_id, u.id as user_id, u.email
       from api_keys k join users u on u.account_id = k.account_id and u.closed_at is null
         and (u.account_role in ('owner', 'admin', 'billing') or u.id = k.user_id)
      where k.id in (select key_id from jsonb_to_recordset($1::jsonb) as alert (key_id uuid))`,
    [JSON.stringify(alerts.map(({ keyId }) => ({ key_id: keyId })))],
  );
  for (const alert of alerts) {
    const { keyId, month, threshold } = alert;
    for (const { key_name, account_id, user_id, email } of people.filter(({ key_id }) => key_id === keyId)) {
      await queueMail(db, {
        to: email,
        template: 'budget-alert',
        data: { key_id: keyId, key_name, ...mailed(alert) },
        dedupeKey: `budget:${keyId}:${month}:${threshold ?? 'refusal'}:${user_id}`,
        accountId: account_id,
      });
    }
  }
}

const KeyRow = z.object({ id: z.string(), account_id: z.string(), name: z.string() });

/** Of thresholds, each by itself; a refusal is told of where it is written down, also where its threshold was reached before. */
async function tellWebhooks(db: Queryable, alerts: readonly DueAlert[]): Promise<void> {
  const reached = alerts.filter(({ cause, threshold }) => cause !== 'refusal' && threshold !== null);
  if (reached.length === 0) return;
  const keys = await checkedRows(db, KeyRow, 'select id, account_id, name from api_keys where id = any($1)', [
    reached.map(({ keyId }) => keyId),
  ]);
  for (const { keyId, month, threshold, spent, cap } of reached) {
    const key = keys.find(({ id }) => id === keyId);
    if (!key || threshold === null) continue;
    const figures = { spent_usd: formatUsd(spent), cap_usd: formatUsd(cap), resets_at: periodOf(month).resetsAt };
    await recordEvent(db, {
      ...{ accountId: key.account_id, type: 'budget.threshold_reached' },
      data: { key_id: keyId, name: key.name, period: month, ...figures, threshold_percent: threshold },
    });
  }
}

const mailed = ({ month, threshold, cause, spent, cap, required }: DueAlert) => ({
  threshold_percent: threshold,
  kind: alertKind(threshold),
  cause,
  spent_usd: formatUsd(spent),
  cap_usd: formatUsd(cap),
  required_usd: required === null ? null : formatUsd(required),
  period: month,
  resets_at: periodOf(month).resetsAt,
});
