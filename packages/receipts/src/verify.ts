import { readAnchor } from './anchor/read-anchor.ts';
import { type AnchoredReceipt, checkAnchor } from './anchor/receipt-anchor.ts';
import type { Checks } from './checks.ts';
import { checkClientSignature, type RequestComponents } from './client-signature.ts';
import { checkCost } from './cost.ts';
import { receiptDigest } from './digest.ts';
import { toHex } from './encoding.ts';
import { readJson } from './json.ts';
import { canonicalBytes, jwsSigningInput, readDetachedJws } from './jws.ts';
import { checkPeriod, checkSignature, keyNamed } from './keys.ts';
import { checkPriceEntry, type ProvenPrices } from './log/price-entry.ts';
import { type CheckedNotes, checkLog, type LoggedReceipt, type LogTrust } from './log/receipt-log.ts';
import { checkPayment } from './payment.ts';
import { checkPrices, type PublishedPrices } from './prices.ts';
import type { ReceiptPayload } from './receipt.ts';
import { type Refusal, type RefusalCode, Refused, refusalAsValue } from './refusal.ts';
import { type Statement, statementOf } from './statement.ts';
import { type ReadReceipt, readLog, readReceipt } from './structure.ts';
import { checkOrder } from './times.ts';

export interface VerifyOptions extends LogTrust {
  /** Where given, the receipt must have been charged at these prices. */
  readonly prices?: PublishedPrices;
  /** Refuses what was not shown to stand in the log: whoever has stolen a retired key dates receipts back, and cannot log them there. */
  readonly requireLog?: boolean;
  /** Parts of the request that the caller's own signature covers and the receipt does not state, to check that one too. */
  readonly requestComponents?: RequestComponents;
}

/** A receipt that holds. Only `payload` is signed, so only it is handed on. */
export interface Verified extends Statement {
  readonly valid: true;
  readonly payload: ReceiptPayload;
  readonly checks: Checks;
  /** Where it stands in the log; present where `checks.log` is `ok`. */
  readonly logged?: LoggedReceipt;
  /** Which state of the log is said to be on a chain; present where `checks.anchor` is `unconfirmed`. */
  readonly anchored?: AnchoredReceipt;
}

/** A refusal is a value, not an exception. */
export type Verification = Verified | Refusal;

/**
 * Verifies a receipt that has been parsed already, without asking anybody.
 *
 * `JSON.parse` hides repeated members and rounded numbers: for a receipt that comes as text, from a file or from someone
 * else, use `verifyReceiptText`. `keys` is the key set of the service (a `VaasKeySet`), kept from `/.well-known/vaas-keys.json`.
 */
export const verifyReceipt = (receipt: unknown, keys: unknown, options: VerifyOptions = {}): Verification =>
  refusalAsValue(() => verifyWithNotes(receipt, keys, { options, notes: new Map(), proven: new Map() }));

/** Verifies the text of a receipt, and refuses text that two readers could understand in two ways. */
export const verifyReceiptText = (text: string, keys: unknown, options: VerifyOptions = {}): Verification =>
  refusalAsValue(() => verifyWithNotes(readJson(text), keys, { options, notes: new Map(), proven: new Map() }));

/** What the text of a receipt says, not verified nor even looked at: every member is unique, every number an exact integer. */
export interface ParsedReceipt {
  readonly parsed: true;
  readonly receipt: unknown;
}

export interface UnparsedReceipt {
  readonly parsed: false;
  readonly code: RefusalCode;
  readonly reason: string;
}

/** Reads the text of a receipt: the first half of `verifyReceiptText`. */
export function parseReceipt(text: string): ParsedReceipt | UnparsedReceipt {
  const read = refusalAsValue(() => ({ valid: true as const, receipt: readJson(text) }));
  return read.valid ? { parsed: true, receipt: read.receipt } : { parsed: false, code: read.code, reason: read.reason };
}

interface Verifying {
  readonly options: VerifyOptions;
  readonly notes: CheckedNotes;
  readonly proven: ProvenPrices;
}

/** That the service has issued it: id, digest and signature are of this payload. Throws `Refused` where they are not. @returns the digest */
function checkIssued({ id, payload, digest: stated, jws }: ReadReceipt, keys: unknown): Uint8Array {
  if (id !== payload.receipt_id) throw new Refused('id_mismatch', `receipt.id is ${id}, payload.receipt_id is ${payload.receipt_id}.`);
  const digest = receiptDigest(payload);
  if (stated !== toHex(digest)) throw new Refused('bad_digest', `receipt.digest is ${stated}, that of the payload is ${toHex(digest)}.`);
  const { kid, signature } = readDetachedJws(jws, 'tallygate-receipt');
  const key = keyNamed(kid, keys);
  checkSignature({ path: 'receipt.jws', key, message: jwsSigningInput(kid, canonicalBytes(payload)), signature });
  checkPeriod(key, payload.completed_at);
  return digest;
}

/** As `verifyReceipt`, for many receipts that share checkpoints and prices. Throws `Refused`. */
export function verifyWithNotes(input: unknown, keys: unknown, { options, notes, proven }: Verifying): Verified {
  const { prices, requireLog = false, requestComponents = {}, ...trust } = options;
  const receipt = readReceipt(input);
  const { payload, log, price, anchor } = receipt;
  const digest = checkIssued(receipt, keys);
  checkOrder(payload);
  const clientSignature = checkClientSignature(payload, requestComponents);

  checkCost(payload);
  checkPayment(payload);
  if (prices) checkPrices(payload, prices);

  const entry = readLog(log);
  const logged = entry && checkLog({ digest, madeAt: payload.completed_at }, entry, keys, { trust, notes });
  if (!logged && requireLog)
    throw new Refused(
      'not_logged',
      entry ? 'No key of the log was at hand to check the proof.' : 'The receipt carries no proof from the log.',
    );
  const priceEntry = checkPriceEntry(payload, { price, index: entry?.index, logged, proven });
  if (priceEntry === 'unchecked' && requireLog)
    throw new Refused('not_logged', 'The receipt does not carry the entry of the log that has its price.');
  if (!logged && (trust.witnesses?.quorum ?? 0) > 0)
    throw new Refused('too_few_witnesses', 'The receipt carries no state of the log that witnesses could have cosigned.');

  const named = readAnchor(anchor);
  const anchored = named && named !== 'unknown' ? checkAnchor(payload, named, logged) : undefined;

  const checks: Checks = {
    signature: 'ok',
    cost: 'ok',
    ...(prices && { prices: 'ok' }),
    ...(priceEntry && { price_entry: priceEntry }),
    ...(clientSignature && { client_signature: clientSignature }),
    log: logged ? 'ok' : entry ? 'unchecked' : 'pending',
    anchor: anchored ? 'unconfirmed' : named ? 'unchecked' : 'pending',
  };
  return {
    valid: true,
    payload,
    checks,
    ...(logged && { logged }),
    ...(anchored && { anchored }),
    ...statementOf(checks, payload, logged),
  };
}
