import { dayOf } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { isCorrection, isRefund, isSettled, type PostedRecord, postingKindOf, type SettledRecord } from './settlement-record.ts';

/** One side of a posting: positive where the ledger account receives, negative where it gives. */
export interface LedgerEntry {
  readonly account: string;
  readonly amount: bigint;
}

type Booked = Pick<SettledRecord, 'accountId' | 'livemode' | 'funding' | 'cost' | 'charged' | 'debt' | 'waived'>;

/**
 * A refund is the posting of what it gives back, the other way round, to the same accounts; a correction is that of what it corrects, together
 * with the posting of what takes its place.
 */
function entriesOf(record: PostedRecord): LedgerEntry[] {
  if (isRefund(record)) return reversed(usageEntries(record));
  return isCorrection(record) ? [...usageEntries(record), ...reversed(usageEntries(record.was))] : usageEntries(record);
}

/** What is booked by one posting: a refund or a correction, or all settlements of a batch that are of one mode and one day. */
export interface Posting {
  readonly id: string;
  readonly kind: ReturnType<typeof postingKindOf>;
  /** Null for settlements: each names its posting. */
  readonly cause: { readonly requestId: string; readonly attempt: number } | null;
  readonly livemode: boolean;
  /** UTC day in whose sums it counts, `YYYY-MM-DD`. */
  readonly day: string;
  /** One of each ledger account; they sum to zero. */
  readonly entries: readonly LedgerEntry[];
}

/** @returns the posting of each record, in their order */
export function postingsOf(records: readonly PostedRecord[]): Posting[] {
  const ofSettlements = new Map<string, Posting>();
  const groups = Map.groupBy(records.filter(isSettled), (record) => nameOf(record));
  for (const [name, [first, ...others]] of groups)
    if (first) ofSettlements.set(name, postingOf(first, null, [first, ...others].flatMap(entriesOf)));
  return records.map((record) => {
    const { requestId, attempt } = record;
    return ofSettlements.get(isSettled(record) ? nameOf(record) : '') ?? postingOf(record, { requestId, attempt }, entriesOf(record));
  });
}

const nameOf = ({ livemode, startedAt }: PostedRecord): string => `${livemode} ${dayOf(startedAt)}`;

const postingOf = (record: PostedRecord, cause: Posting['cause'], entries: readonly LedgerEntry[]): Posting => ({
  id: newId(),
  kind: postingKindOf(record),
  cause,
  livemode: record.livemode,
  day: dayOf(record.startedAt),
  entries: merged(entries),
});

const reversed = (entries: readonly LedgerEntry[]): LedgerEntry[] => entries.map(({ account, amount }) => ({ account, amount: -amount }));

/** One entry of each ledger account. */
function merged(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const sums = new Map<string, bigint>();
  for (const { account, amount } of entries) sums.set(account, (sums.get(account) ?? 0n) + amount);
  return [...sums].map(([account, amount]) => ({ account, amount }));
}

/**
 * How a settled request is booked. The customer's side gives, revenue receives:
 * the plan's quota what it covered, the balance (or the receivable of an invoice) what was charged, and debt what no money was held
 * for, of a line of a batch whose hold was lost for one. What was waived, a bill beyond the hold above all, is
 * the operator's loss. Test mode has accounts of its own, and no losses. The entries sum to zero.
 */
export function usageEntries(record: Booked): LedgerEntry[] {
  const [cost, waived] = [BigInt(record.cost), record.waived ?? 0n];
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
    { account: 'operator_losses', amount: -waived },
  ];
  return [...sides.filter(({ amount }, index) => amount !== 0n || index === 0), { account: 'revenue', amount: cost + waived }];
}
