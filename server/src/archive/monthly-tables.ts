import { idAt, requestIdAt, timeOfId, timeOfRequestId } from '../kernel/ids.ts';

/** A table with a row for each request. Its key begins with the time at which it was made, so its months are ranges of the key. */
export interface MonthlyTable {
  readonly name: 'usage_records' | 'receipts';
  /** The column of the key, the first of the table, and its type. */
  readonly key: string;
  readonly keyType: 'text' | 'uuid';
  /** When a key of the table was made, epoch milliseconds. @throws RangeError for what is no such key */
  readonly timeOf: (key: string) => number;
  /** A key bound: before every key of that time or later, after every earlier one. @param ms epoch milliseconds */
  readonly keyAt: (ms: number) => string;
  /** SQL: the place of a row in the log of receipts, where it has one. */
  readonly logIndex: string;
  /** SQL: whether something is still to happen to a row with a key from $1 on and before $2, so that it may not leave the database. */
  readonly pending: string;
}

export const USAGE_RECORDS: MonthlyTable = {
  name: 'usage_records',
  key: 'request_id',
  keyType: 'text',
  timeOf: timeOfRequestId,
  keyAt: requestIdAt,
  logIndex: 'null::bigint',
  pending: `select from refunds where posted_at is null and request_id >= $1 and request_id < $2
    union all select from corrections where posted_at is null and request_id >= $1 and request_id < $2`,
};

export const RECEIPTS: MonthlyTable = {
  name: 'receipts',
  key: 'receipt_id',
  keyType: 'uuid',
  timeOf: timeOfId,
  keyAt: idAt,
  logIndex: 'log_index',
  pending: 'select from receipts where log_index is null and receipt_id >= $1::uuid and receipt_id < $2::uuid',
};

export const MONTHLY_TABLES: readonly MonthlyTable[] = [USAGE_RECORDS, RECEIPTS];
