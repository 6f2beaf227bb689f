import { isCorrection, isRefund, type PostedRecord, type SettledRecord } from './settlement-record.ts';

/** One side of a posting: positive where the ledger account receives, negative where it gives. */
export interface LedgerEntry {
  readonly account: string;
  readonly amount: bigint;
}

type Booked = Pick<SettledRecord, 'accountId' | 'livemode' | 'funding' | 'cost' | 'charged' | 'debt'>;

/**
 * A refund is the posting of what it gives back, the other way round, to the same accounts; a correction is that of what it corrects, together
 * with the posting of what takes its place.
 */
export function entriesOf(record: PostedRecord): LedgerEntry[] {
  if (isRefund(record)) return reversed(usageEntries(record));
  return isCorrection(record) ? merged([...usageEntries(record), ...reversed(usageEntries(record.was))]) : usageEntries(record);
}

const reversed = (entries: readonly LedgerEntry[]): LedgerEntry[] => entries.map(({ account, amount }) => ({ account, amount: -amount }));

/** One entry of each ledger account. */
function merged(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const sums = new Map<string, bigint>();
  for (const { account, amount } of entries) sums.set(account, (sums.get(account) ?? 0n) + amount);
  return [...sums].map(([account, amount]) => ({ account, amount }));
}

/**
 * How a settled request is booked. The customer's side gives, revenue receives:
 * the plan's quota what it covered, the balance (or the receivable of an invoice) what was charged, and debt what the provider billed
 * beyond the hold. Test mode has accounts of its own. The entries sum to zero.
 */
export function usageEntries(record: Booked): LedgerEntry[] {
  const cost = BigInt(record.cost);
  if (!record.livemode) {
    return [
      { account: `test_funds:${record.accountId}`, amount: -cost },
      { account: 'test_revenue', amount: cost },
    ];
  }
  // Each way of paying has its own debt, so that changing it leaves nothing to be paid twice.
  const [payer, debt] = record.funding === 'invoice' ? ['receivable', 'invoice_debt'] : ['customer_balance', 'debt'];
  const sides = [
    { account: `plan_quota:${record.accountId}`, amount: -(cost - record.charged) },
    { account: `${payer}:${record.accountId}`, amount: -(record.charged - record.debt) },
    { account: `${debt}:${record.accountId}`, amount: -record.debt },
  ];
  return [...sides.filter(({ amount }, index) => amount !== 0n || index === 0), { account: 'revenue', amount: cost }];
}
