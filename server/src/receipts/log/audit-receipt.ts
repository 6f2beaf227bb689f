import { hash as digestOf, type KeyObject, verify } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput } from '@tallygate/receipts';
import { publicKeyOf } from '../signing-keys.ts';
import { entryOf } from './append.ts';
import type { PublishedOwnKey } from './audit-keys.ts';

/** A stored receipt with the columns that it is listed and exported by. */
export interface AuditedReceipt {
  readonly receipt_id: string;
  readonly payload: string;
  readonly digest: Buffer;
  readonly kid: string;
  readonly signature: Buffer;
  readonly log_index: bigint;
  readonly account_id: string;
  readonly request_id: string;
  readonly livemode: boolean | null;
  readonly kind: string | null;
  readonly model: string | null;
  readonly run_id: string | null;
  readonly started_at: Date | null;
}

export const AUDITED_COLUMNS =
  'receipt_id, payload, digest, kid, signature, log_index, account_id, request_id, livemode, kind, model, run_id, started_at';

const keyObjects = new Map<string, KeyObject>();

/** Why a receipt is not as it was signed, or not found by whom it belongs to. */
export function receiptFaults(row: AuditedReceipt, keys: readonly PublishedOwnKey[]): string[] {
  const { receipt_id: id, payload, digest, signature } = row;
  if (!digestOf('sha256', entryOf(payload), 'buffer').equals(digest)) return [`the digest of receipt ${id} is not that of its payload`];
  const key = keys.find(({ kid, purpose }) => kid === row.kid && purpose === 'receipt');
  if (!key) return [`receipt ${id} is signed with a key that this service was not configured with`];
  const keyObject = keyObjects.get(key.x) ?? publicKeyOf(key.x);
  keyObjects.set(key.x, keyObject);
  if (!verify(null, digest, keyObject, signature)) return [`the signature of receipt ${id} does not hold`];
  const said = JSON.parse(payload) as ReceiptPayload;
  const copies = unlikeCopies(row, said);
  return [
    ...(copies.length > 0 ? [`receipt ${id} is not listed as it was signed: ${copies.join(', ')}`] : []),
    ...(isInPeriod(said, key) ? [] : [`receipt ${id} is of ${said.completed_at}, when its key was not in force`]),
  ];
}

/** The columns that are not what the payload says. */
function unlikeCopies(row: AuditedReceipt, said: ReceiptPayload): string[] {
  const accountHash = digestOf('sha256', accountHashInput(said.nonce, row.account_id), 'hex');
  const copies = {
    receipt_id: row.receipt_id === said.receipt_id,
    account_id: accountHash === said.account_hash,
    request_id: row.request_id === said.request_id,
    livemode: row.livemode === said.livemode,
    kind: row.kind === said.kind,
    model: row.model === said.model_served,
    run_id: row.run_id === said.run_id,
    started_at: row.started_at?.getTime() === Date.parse(said.started_at),
  };
  return Object.entries(copies).flatMap(([name, isLike]) => (isLike ? [] : [name]));
}

function isInPeriod({ completed_at }: ReceiptPayload, { period }: PublishedOwnKey): boolean {
  const at = Date.parse(completed_at);
  return !period || (at >= period.notBefore.getTime() && (!period.notAfter || at <= period.notAfter.getTime()));
}
