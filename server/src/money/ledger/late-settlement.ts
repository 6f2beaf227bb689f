import type { JournalEntry, Refund } from '../../adapters/lanes/port.ts';
import { lanesOfRecord } from './lanes-of-record.ts';
import { type CorrectionRecord, postingKindOf, type RefundRecord, type SettlementRecord } from './settlement-record.ts';

/**
 * What the lanes have to be told of an entry that none of them has: a late settlement, or a refund. Undefined where the entry cannot be read: the
 * writer of the ledger sets it aside.
 *
 * @param once the name under which they are told of it once; default: that of what is settled or given back
 */
export function untoldOf(entry: JournalEntry, once?: string) {
  try {
    const record = JSON.parse(entry.record) as SettlementRecord | RefundRecord | CorrectionRecord;
    const { accountId, requestId, attempt } = record;
    const named = { accountId, ...lanesOfRecord(record) };
    if (record.kind === 'refund')
      return { refund: { refundId: once ?? record.refundId, ...named, ...givenBack(entry), cost: BigInt(record.cost) } satisfies Refund };
    if (record.kind === 'correction')
      return {
        refund: {
          refundId: once ?? record.correctionId,
          ...named,
          ...givenBack(entry),
          cost: BigInt(record.was.cost) - BigInt(record.cost),
        },
      };
    const lateId = once ?? `${requestId} ${attempt} ${postingKindOf({ ...record, charged: 0n, debt: 0n, covered: {} })}`;
    return { settlement: { lateId, heldAs: record.receiptId, ...named, cost: BigInt(record.cost) - (entry.waived ?? 0n), entry } };
  } catch {
    return undefined;
  }
}

const givenBack = ({ charged, covered, record }: JournalEntry) => ({ charged, covered, record });
