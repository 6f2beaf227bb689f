import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { correctRequest, refundRequest } from './correct.ts';
import { exportReceipts } from './export.ts';
import { followReceipts } from './follow.ts';
import { getReceipt } from './get.ts';
import { receiptKeys } from './keys.ts';
import { listReceipts } from './list.ts';
import { verifyReceipt } from './verify.ts';

export function receiptCommands(receipts: Command, perform: Perform): void {
  getReceipt(receipts, perform);
  verifyReceipt(receipts, perform);
  receiptKeys(receipts, perform);
  listReceipts(receipts, perform);
  followReceipts(receipts, perform);
  exportReceipts(receipts, perform);
  refundRequest(receipts, perform);
  correctRequest(receipts, perform);
}
