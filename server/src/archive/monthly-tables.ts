import { idAt, requestIdAt, timeOfId, timeOfRequestId } from '../kernel/ids.ts';

/** A table with a row for each request. Its key begins with the time at which it was made, so its months are ranges of the key. */
export interface MonthlyTable {
  readonly name: 'usage_records' | 'receipts';
  /** When a key of the table was made, epoch milliseconds. @throws RangeError for what is no such key */
  readonly timeOf: (key: string) => number;
  /** What comes before every key that was made at that time or later, and after every earlier one. @param ms epoch milliseconds */
  readonly keyAt: (ms: number) => string;
}

export const USAGE_RECORDS: MonthlyTable = { name: 'usage_records', timeOf: timeOfRequestId, keyAt: requestIdAt };
export const RECEIPTS: MonthlyTable = { name: 'receipts', timeOf: timeOfId, keyAt: idAt };
export const MONTHLY_TABLES: readonly MonthlyTable[] = [USAGE_RECORDS, RECEIPTS];
