import { hash } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { canonicalJson } from '@tallygate/receipts';
import { accountHashOf, keyHashOf, nonceOf, packed, payloadOf } from './packed-receipt.ts';
import { type Named, type SubjectHashes, subjectHashes } from './subjects.ts';

/** What a receipt says, before it has its nonce. Ids in the clear: they leave as salted hashes. */
export type ReceiptFacts = Omit<ReceiptPayload, 'version' | 'nonce' | 'account_hash' | 'key_hash' | keyof SubjectHashes> &
  Named & {
    readonly account_id: string;
    readonly key_id: string | null;
  };

export interface IssuedReceipt {
  readonly receiptId: string;
  /** Canonical JSON (RFC 8785): the very bytes that were digested. */
  readonly payload: string;
  readonly digest: Buffer;
}

/** Nothing is signed: what binds the service is the log's state that has the digest. A signature of its own is made when the receipt is read. */
export function issueReceipt(facts: ReceiptFacts): IssuedReceipt {
  const payload = canonicalJson(payloadFrom(facts));
  return { receiptId: facts.receipt_id, payload, digest: digestOf(payload) };
}

function payloadFrom({ account_id, key_id, project_id, end_user, tags, ...facts }: ReceiptFacts): ReceiptPayload {
  const nonce = nonceOf(facts.receipt_id);
  return {
    version: 'tallygate-receipt/v1',
    nonce,
    account_hash: accountHashOf(nonce, account_id),
    key_hash: keyHashOf(nonce, key_id),
    ...subjectHashes(nonce, { project_id, end_user, tags }),
    ...facts,
  };
}

/** The 32 bytes that are the entry of a receipt in the log. @param payload canonical */
export const digestOf = (payload: string): Buffer => hash('sha256', `tallygate-receipt/v1\n${payload}`, 'buffer');

/** An issued receipt as a row of `receipts`, in JSON, without its place in the log. */
export function receiptColumns(facts: ReceiptFacts) {
  const said = payloadFrom(facts);
  const payload = canonicalJson(said);
  const columns = {
    receipt_id: facts.receipt_id,
    account_id: facts.account_id,
    request_id: facts.request_id,
    livemode: facts.livemode,
    kind: facts.kind,
    model: facts.model_served,
    run_id: facts.run_id,
    started_at: facts.started_at,
    account_sequence: facts.account_sequence,
  };
  const bytes = packedOf(facts, said, payload);
  return { ...columns, digest: digestOf(payload), payload: bytes ? null : payload, packed: bytes ?? null };
}

/** Undefined for what does not come out of its packed form as the very text that was digested: that is stored as text. */
function packedOf(facts: ReceiptFacts, said: ReceiptPayload, payload: string): Buffer | undefined {
  try {
    const bytes = packed(said, facts);
    const row = { ...facts, payload: null, packed: bytes, model: facts.model_served, started_at: new Date(facts.started_at) };
    return payloadOf(row) === payload ? bytes : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
