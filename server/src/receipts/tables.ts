import { tablesOf } from '../kernel/statements.ts';
import type {
  Anchor,
  AnchorTransaction,
  LogDeclaration,
  LogDocument,
  LogTimestamp,
  OwnRecord,
  Receipt,
  ReceiptLog,
  ReceiptLogAudit,
  ReceiptLogCheckpoint,
  ReceiptLogStop,
  ReceiptLogTile,
  ReceiptLogWitness,
  ReceiptNumber,
  SignedInvoice,
  SigningKey,
  UnsealedReceipt,
} from './entities.ts';

export const tables = tablesOf<
  | typeof Anchor
  | typeof AnchorTransaction
  | typeof LogDeclaration
  | typeof LogDocument
  | typeof LogTimestamp
  | typeof OwnRecord
  | typeof Receipt
  | typeof ReceiptLog
  | typeof ReceiptLogAudit
  | typeof ReceiptLogCheckpoint
  | typeof ReceiptLogStop
  | typeof ReceiptLogTile
  | typeof ReceiptLogWitness
  | typeof ReceiptNumber
  | typeof SignedInvoice
  | typeof SigningKey
  | typeof UnsealedReceipt
>();

/** For statements that join them. */
export type ReceiptTable = typeof Receipt;
export type DeclarationTable = typeof LogDeclaration;
