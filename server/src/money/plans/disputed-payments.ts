import { rfc3339 } from '../../kernel/clock.ts';
import type { Unit } from './account-lock.ts';

/** Before the period begins at which a payment for it may have been made, to allow for clocks. */
const EARLY_MS = 86_400_000;

/**
 * A payment of the subscription that the bank takes back is no payment: while it is disputed the plan is suspended, and after a dispute that
 * was lost until the period is over that the payment was for.
 */
export async function isTakenBack(unit: Unit, accountId: string, periodStartMs: number): Promise<boolean> {
  const { rowCount } = await unit.query(
    `select from payment_disputes d join payments p on p.provider_id = d.provider_payment_id
      where p.account_id = $1 and p.kind = 'subscription' and (d.status = 'open' or (d.status = 'lost' and p.created_at >= $2)) limit 1`,
    [accountId, rfc3339(periodStartMs - EARLY_MS)],
  );
  return rowCount === 1;
}
