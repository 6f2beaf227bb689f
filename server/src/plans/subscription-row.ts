import type { Unit } from './account-lock.ts';

/** A row of `subscriptions`: what is known of an account's plan beside its id. */
export interface SubscriptionRow {
  readonly account_id: string;
  readonly customer_id: string | null;
  readonly subscription_id: string | null;
  readonly status: string;
  readonly plan_id: string | null;
  readonly plan_version: number | null;
  readonly granted_plan: string;
  readonly period_start: Date | null;
  readonly period_end: Date | null;
  readonly cancels_at_period_end: boolean;
  readonly grace_ends_at: Date | null;
  readonly change_version: number;
  /** Of the account: what admission goes by. */
  readonly plan: string;
}

export interface DowngradeRow {
  readonly downgrade_id: string;
  readonly account_id: string;
  readonly from_plan: string;
  readonly to_plan: string;
  readonly effective_at: Date;
  readonly based_on: number;
  readonly state: 'scheduled' | 'applied' | 'dropped' | 'canceled';
}

const SELECT = `select s.account_id, customer_id, subscription_id, status, plan_id, plan_version, granted_plan, period_start, period_end,
    cancels_at_period_end, grace_ends_at, change_version, a.plan
  from subscriptions s join accounts a on a.id = s.account_id where s.account_id = $1`;

/** Of any account. One that never had to do with payments has the plan that it was given, and gets its row now. */
export async function subscriptionRow(unit: Unit, accountId: string): Promise<SubscriptionRow> {
  const known = await unit.query<SubscriptionRow>(SELECT, [accountId]);
  if (known.rows[0]) return known.rows[0];
  await unit.query(
    `insert into subscriptions (account_id, granted_plan) select id, plan from accounts where id = $1 on conflict (account_id) do nothing`,
    [accountId],
  );
  const { rows } = await unit.query<SubscriptionRow>(SELECT, [accountId]);
  if (!rows[0]) throw new Error(`There is no account ${accountId}`);
  return rows[0];
}

export async function scheduledDowngrade(unit: Unit, accountId: string): Promise<DowngradeRow | undefined> {
  const { rows } = await unit.query<DowngradeRow>("select * from scheduled_downgrades where account_id = $1 and state = 'scheduled'", [
    accountId,
  ]);
  return rows[0];
}
