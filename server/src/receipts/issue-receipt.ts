import { hash, randomBytes } from 'node:crypto';
import type { ReceiptPayload } from '@tallygate/contract';
import { accountHashInput, canonicalJson, keyHashInput } from '@tallygate/receipts';

/** What a receipt says, before it has its nonce. Ids in the clear: they leave as salted hashes. */
export type ReceiptFacts = Omit<ReceiptPayload, 'version' | 'nonce' | 'account_hash' | 'key_hash'> & {
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
export function issueReceipt({ account_id, key_id, ...facts }: ReceiptFacts): IssuedReceipt {
  const nonce = randomBytes(16).toString('hex');
  const payload: ReceiptPayload = {
    version: 'tallygate-receipt/v1',
    nonce,
    account_hash: hash('sha256', accountHashInput(nonce, account_id), 'hex'),
    key_hash: key_id === null ? null : hash('sha256', keyHashInput(nonce, key_id), 'hex'),
    ...facts,
  };
  const canonical = canonicalJson(payload);
  return { receiptId: facts.receipt_id, payload: canonical, digest: digestOf(canonical) };
}

/** The 32 bytes that are the entry of a receipt in the log. @param payload canonical */
export const digestOf = (payload: string): Buffer => hash('sha256', `tallygate-receipt/v1\n${payload}`, 'buffer');
