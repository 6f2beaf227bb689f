import type { PlanOfAccount } from '../../access/identity/index.ts';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import type { PlanBook } from './plan-book.ts';
import { tables } from './tables.ts';
import type { Plan } from './tiers.ts';

/** A row of `subscriptions`: what is known of an account's plan beside its id. */
export interface SubscriptionRow {
  readonly account_id: string;
  readonly customer_id: string | null;
  readonly subscription_id: string | null;
  readonly status: string;
  readonly plan_id: string | null;
  readonly plan_version: number | null;
  /** By the operator, or for a time by an invitation; null: nothing. */
  readonly given_plan: string | null;
  /** The subscription that ran when it was given: that one does not count any more. */
  readonly given_over: string | null;
  readonly period_start: Date | null;
  readonly period_end: Date | null;
  readonly cancels_at_period_end: boolean;
  readonly grace_ends_at: Date | null;
  readonly change_version: number;
  /** Of the account: what admission goes by. */
  readonly plan: string;
  /** Null: what follows from the gateway's settings. */
  readonly plan_on_record: string | null;
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

const ON_RECORD = tables
  .selectFrom('subscriptions as s')
  .innerJoin('accounts as a', 'a.id', 's.account_id')
  .select(['s.account_id', 'customer_id', 'subscription_id', 'status', 'plan_id', 'plan_version', 'a.given_plan', 'given_over'])
  .select(['period_start', 'period_end', 'cancels_at_period_end', 'grace_ends_at', 'change_version', 'a.plan as plan_on_record']);

type RowOnRecord = Omit<SubscriptionRow, 'plan'>;

/** Of any account. One that never had to do with payments gets its row now. */
export async function subscriptionRow(
  unit: Queryable,
  accountId: string,
  { planOfAccount }: Pick<PlanTermsDeps, 'planOfAccount'>,
): Promise<SubscriptionRow> {
  const row = (await findRow(unit, accountId)) ?? (await makeRow(unit, accountId));
  return { ...row, plan: planOfAccount({ plan: row.plan_on_record, givenPlan: row.given_plan }) };
}

const findRow = (unit: Queryable, accountId: string): Promise<RowOnRecord | undefined> =>
  firstOf(unit, ON_RECORD.where('s.account_id', '=', accountId));

async function makeRow(unit: Queryable, accountId: string): Promise<RowOnRecord> {
  await unit.query('insert into subscriptions (account_id) select id from accounts where id = $1 on conflict (account_id) do nothing', [
    accountId,
  ]);
  const row = await findRow(unit, accountId);
  if (!row) throw new Error(`There is no account ${accountId}`);
  return row;
}

/** What a gateway's plans are, and which an account has that was given none. */
export interface PlanTermsDeps {
  readonly book: PlanBook;
  readonly planOfAccount: PlanOfAccount;
}

/** The plan of an account without a subscription. */
export const planWithoutPayment = (
  { given_plan: given }: Pick<SubscriptionRow, 'given_plan'>,
  { planOfAccount }: Pick<PlanTermsDeps, 'planOfAccount'>,
): string => planOfAccount({ plan: given, givenPlan: given });

/** What it was sold or given, whatever it is entitled to at this moment. */
export const presentPlan = (row: SubscriptionRow, deps: PlanTermsDeps): Plan =>
  deps.book.of(
    row.plan_id === null || isGivenOver(row, row.subscription_id) ? planWithoutPayment(row, deps) : `${row.plan_id}@${row.plan_version}`,
  );

export const isGivenOver = ({ given_over }: Pick<SubscriptionRow, 'given_over'>, subscriptionId: string | null): boolean =>
  given_over !== null && given_over === subscriptionId;

export const scheduledDowngrade = (unit: Queryable, accountId: string): Promise<DowngradeRow | undefined> =>
  firstOf(unit, tables.selectFrom('scheduled_downgrades').selectAll().where('account_id', '=', accountId).where('state', '=', 'scheduled'));
