import { accountHash, invoiceDigest } from '../digest.ts';
import { toHex } from '../encoding.ts';
import { readJson } from '../json.ts';
import { canonicalBytes, jwsSigningInput, readDetachedJws } from '../jws.ts';
import { checkPeriod, checkSignature, keyNamed } from '../keys.ts';
import { checkLog, type LoggedReceipt, type LogTrust } from '../log/receipt-log.ts';
import { type Refusal, Refused, refusalAsValue } from '../refusal.ts';
import { readLog } from '../structure.ts';
import type { InvoicePayload } from './invoice.ts';
import { checkInvoiceSums } from './invoice-sums.ts';
import { readInvoice } from './read-invoice.ts';

export interface InvoiceOptions extends LogTrust {
  /** Refuses what was not shown to stand in the log. */
  readonly requireLog?: boolean;
  /** Where given, it has to be of this account. */
  readonly accountId?: string;
}

/** An invoice that holds by itself: what its receipts come to is checked by `verifyBill`. */
export interface VerifiedInvoice {
  readonly valid: true;
  readonly payload: InvoicePayload;
  /** Its entry in the log, hex. */
  readonly digest: string;
  readonly checks: { readonly signature: 'ok'; readonly sums: 'ok'; readonly log: 'ok' | 'pending' | 'unchecked' };
  /** Where it stands in the log; present where `checks.log` is `ok`. */
  readonly logged?: LoggedReceipt;
}

export type InvoiceVerification = VerifiedInvoice | Refusal;

/** Verifies the text of an invoice by itself: form, signature, place in the log, and that its figures agree with each other. */
export const verifyInvoiceText = (text: string, keys: unknown, options: InvoiceOptions = {}): InvoiceVerification =>
  refusalAsValue(() => verified(readJson(text), keys, options));

/** As `verifyInvoiceText`, for what has been parsed already. */
export const verifyInvoice = (invoice: unknown, keys: unknown, options: InvoiceOptions = {}): InvoiceVerification =>
  refusalAsValue(() => verified(invoice, keys, options));

function verified(input: unknown, keys: unknown, { requireLog = false, accountId, ...trust }: InvoiceOptions): VerifiedInvoice {
  const { id, payload, digest: stated, jws, log } = readInvoice(input);
  if (id !== payload.invoice_id) throw new Refused('id_mismatch', `invoice.id is ${id}, payload.invoice_id is ${payload.invoice_id}.`);
  const digest = invoiceDigest(payload);
  if (stated !== toHex(digest)) throw new Refused('bad_digest', `invoice.digest is ${stated}, that of the payload is ${toHex(digest)}.`);
  const { kid, signature } = readDetachedJws(jws, 'tallygate-invoice');
  const key = keyNamed(kid, keys);
  checkSignature({ path: 'invoice.jws', key, message: jwsSigningInput(kid, canonicalBytes(payload), 'tallygate-invoice'), signature });
  checkPeriod(key, payload.issued_at);
  checkInvoiceSums(payload);
  if (accountId !== undefined && accountHash(payload.nonce, accountId) !== payload.account_hash)
    throw new Refused('foreign_invoice', `The invoice ${id} is of another account.`);
  const entry = readLog(log);
  const logged = entry && checkLog({ digest, madeAt: payload.issued_at }, entry, keys, { trust, notes: new Map() });
  if (!logged && requireLog) throw new Refused('not_logged', 'The invoice was not shown to stand in the log.');
  if (!logged && (trust.witnesses?.quorum ?? 0) > 0)
    throw new Refused('too_few_witnesses', 'The invoice carries no state of the log that witnesses could have cosigned.');
  const checks = { signature: 'ok', sums: 'ok', log: logged ? 'ok' : entry ? 'unchecked' : 'pending' } as const;
  return { valid: true, payload, digest: stated, checks, ...(logged && { logged }) };
}

/** Whether a text begins as an invoice does. */
export function isInvoice(text: string): boolean {
  const read = refusalAsValue(() => ({ valid: true as const, value: readJson(text) }));
  return read.valid && typeof read.value === 'object' && read.value !== null && 'object' in read.value && read.value.object === 'invoice';
}
