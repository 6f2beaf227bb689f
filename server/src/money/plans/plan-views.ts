import type { Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { monthFigures } from './figures.ts';
import type { AccountPlans, Plans } from './plans.ts';
import { scheduledDowngrade, subscriptionRow } from './subscription-row.ts';
import { currentToWire, invoiceToWire } from './wire.ts';

/** Where plans and payments are on record, and through which of them the account pays. */
export interface PlanModes {
  readonly live: AccountPlans;
  /** `live` with a payment provider; without one the sandbox, which never changes anything live. */
  readonly paying: Plans;
}

/** What the account of a caller is shown, of the mode that the caller sees. */
export type PlanViews = ReturnType<typeof createPlanViews>;

export function createPlanViews({ live, paying }: PlanModes, clock: Clock) {
  const { book, livemode } = paying;

  /**
   * A test key sees what the sandbox sold, everybody else what is live.
   * @throws Problem `not_found` where the sandbox's are asked for and there is none
   */
  const modeOf = (principal: Principal, wanted?: boolean): AccountPlans => {
    if (wanted ?? (livemode || principal.kind === 'session' || principal.livemode)) return live;
    if (!livemode) return paying;
    throw new Problem('not_found', 'This gateway has a payment provider, and so no payments of a sandbox: leave livemode out.');
  };

  /** What admission goes by, and how it came about. Without the account's lock: whoever holds it may be waiting for the provider. */
  const standing = async (plans: AccountPlans, accountId: string) => {
    const row = await subscriptionRow(plans.pool, accountId, plans);
    return { row, plan: book.of(row.plan), downgrade: await scheduledDowngrade(plans.pool, accountId) };
  };
  const current = async (plans: AccountPlans, { accountId }: Principal) => {
    const { plan, row, downgrade } = await standing(plans, accountId);
    return currentToWire({ plan, row, downgrade, livemode: plans.livemode });
  };
  const month = async (plans: AccountPlans, { accountId }: Principal) => {
    const { plan, row, downgrade } = await standing(plans, accountId);
    return { plan, row, downgrade, figures: await monthFigures(plans.pool, accountId, plan, clock.now()) };
  };
  const invoiceOf = async ({ accountId }: Principal, invoiceId: string) => {
    const own = await live.records.findInvoice(accountId, invoiceId);
    const row = own ?? (livemode ? undefined : await paying.records.findInvoice(accountId, invoiceId));
    if (!row) throw new Problem('not_found', 'There is no such invoice in this account.');
    return { ...invoiceToWire(row), lines: row.lines, livemode: own !== undefined };
  };

  return { modeOf, standing, current, month, invoiceOf };
}
