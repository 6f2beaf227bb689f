import { tablesOf } from '../../kernel/statements.ts';
import type { ReceiptTable } from '../../receipts/index.ts';
import type {
  BalanceCredit,
  Correction,
  DailyPosting,
  DailyRunUsage,
  DailyUsage,
  DailyUsageDetail,
  DailyUsageLabel,
  LaneSpend,
  LedgerEntry,
  Posting,
  PriceSet,
  QuarterHourUsage,
  Refund,
  UsageRecord,
} from './entities.ts';

export const tables = tablesOf<
  | typeof BalanceCredit
  | typeof Correction
  | typeof DailyPosting
  | typeof DailyRunUsage
  | typeof DailyUsage
  | typeof DailyUsageDetail
  | typeof DailyUsageLabel
  | typeof LaneSpend
  | typeof LedgerEntry
  | typeof Posting
  | typeof PriceSet
  | typeof QuarterHourUsage
  | typeof Refund
  | typeof UsageRecord
  | ReceiptTable
>();
