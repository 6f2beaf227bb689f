import { hash } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput } from '@tallygate/receipts';
import type { RowOf } from '../../kernel/statements.ts';
import type { Receipt } from '../entities.ts';
import { digestOf } from '../issue-receipt.ts';

export const AUDITED_COLUMNS = [
  ...(['receipt_id', 'payload', 'digest', 'log_index', 'account_id', 'request_id', 'livemode'] as const),
  ...(['kind', 'model', 'run_id', 'started_at', 'account_sequence'] as const),
] as const;
/** A stored receipt with the columns that it is listed and exported by. */
export type AuditedReceipt = Readonly<Pick<RowOf<typeof Receipt>, (typeof AUDITED_COLUMNS)[number]>>;

/** Why a receipt is not as it was issued, or not found by whom it belongs to. */
export function receiptFaults(row: AuditedReceipt): string[] {
  const { receipt_id: id, payload, digest } = row;
  if (!digestOf(payload).equals(digest)) return [`the digest of receipt ${id} is not that of its payload`];
  const said = saidBy(payload);
  if (!said) return [`the payload of receipt ${id} is none`];
  const copies = unlikeCopies(row, said);
  return copies.length > 0 ? [`receipt ${id} is not listed as it was issued: ${copies.join(', ')}`] : [];
}

function saidBy(payload: string): ReceiptPayload | undefined {
  try {
    return JSON.parse(payload) as ReceiptPayload;
  } catch {
    return undefined;
  }
}

/** The columns that are not what the payload says. */
function unlikeCopies(row: AuditedReceipt, said: ReceiptPayload): string[] {
  const accountHash = hash('sha256', accountHashInput(said.nonce, row.account_id), 'hex');
  const copies = {
    receipt_id: row.receipt_id === said.receipt_id,
    account_id: accountHash === said.account_hash,
    request_id: row.request_id === said.request_id,
    livemode: row.livemode === said.livemode,
    kind: row.kind === said.kind,
    model: row.model === said.model_served,
    run_id: row.run_id === said.run_id,
    account_sequence: row.account_sequence === said.account_sequence,
    started_at: row.started_at?.getTime() === Date.parse(said.started_at),
  };
  return Object.entries(copies).flatMap(([name, isLike]) => (isLike ? [] : [name]));
}
