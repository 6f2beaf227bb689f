import { hash } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput } from '@tallygate/receipts';
import { digestOf } from '../issue-receipt.ts';
import { readablePayload } from '../packed-receipt.ts';
import { RECEIPT_COLUMNS, type ReceiptRow } from '../stored-receipt.ts';

export const AUDITED_COLUMNS = RECEIPT_COLUMNS;
/** A stored receipt with the columns that it is listed and exported by. */
export type AuditedReceipt = ReceiptRow;

/** Its digest as it is stored, and why it is not as it was issued, or not found by whom it belongs to. */
export function auditedReceipt(row: AuditedReceipt): { readonly digest: Buffer; readonly faults: string[] } {
  const { receipt_id: id } = row;
  const payload = readablePayload(row);
  const digest = digestOf(payload);
  if (!digest.equals(row.digest)) return { digest, faults: [`the digest of receipt ${id} is not that of its payload`] };
  // What is packed is read together with those columns: its digest is right only where they are.
  if (row.packed) return { digest, faults: [] };
  const said = saidBy(payload);
  if (!said) return { digest, faults: [`the payload of receipt ${id} is none`] };
  const copies = unlikeCopies(row, said);
  return { digest, faults: copies.length > 0 ? [`receipt ${id} is not listed as it was issued: ${copies.join(', ')}`] : [] };
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
