import { tablesOf } from '../../kernel/statements.ts';
import type { ReceiptTable } from '../../receipts/index.ts';
import type {
  BalanceCredit,
  Correction,
  DailyPosting,
  DailyRunUsage,
  DailyUsage,
  DailyUsageDetail,
  LaneSpend,
  LedgerEntry,
  Posting,
  PriceSet,
  Refund,
  UnsummedDay,
  UsageRecord,
  UsageSegment,
} from './entities.ts';

export const tables = tablesOf<
  | typeof BalanceCredit
  | typeof Correction
  | typeof DailyPosting
  | typeof DailyRunUsage
  | typeof DailyUsage
  | typeof DailyUsageDetail
  | typeof LaneSpend
  | typeof LedgerEntry
  | typeof Posting
  | typeof PriceSet
  | typeof Refund
  | typeof UnsummedDay
  | typeof UsageRecord
  | typeof UsageSegment
  | ReceiptTable
>();
