import type { RowOf } from '../../kernel/statements.ts';
import type { UsageRecord } from './entities.ts';
import { PAYMENT_FIELDS, SETTLEMENT_FIELDS } from './settlement-fields.ts';
import { projectionsOf } from './settlement-projections.ts';
import type { SettledRecord, SettlementRecord } from './settlement-record.ts';

const SETTLED_FIELDS = { ...SETTLEMENT_FIELDS, ...PAYMENT_FIELDS };
const settled = projectionsOf(SETTLED_FIELDS);
const settlement = projectionsOf(SETTLEMENT_FIELDS);

/** A row of `usage_records` as it is read. */
export type UsageRecordRow = Readonly<RowOf<typeof UsageRecord>>;
/** The same with its prices. */
export type PricedRow = UsageRecordRow & { readonly unit_prices: SettlementRecord['unitPrices'] };

/** A settled record as a row of `usage_records`. @param postingId of the posting that books it */
export const usageRow = (record: SettledRecord, postingId: string | undefined) => ({ ...settled.toRow(record), posting_id: postingId });

/** The record that a row was made from. */
export const recordOfRow = (row: PricedRow): SettlementRecord => settlement.ofRow(row);

/** What the trace of a request shows of its row. */
export const traceOfRow = (row: UsageRecordRow) => settled.toTrace(row);
