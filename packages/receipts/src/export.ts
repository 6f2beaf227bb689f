import { isPlainObject } from './canonical.ts';
import { accountHash } from './digest.ts';
import { readJson } from './json.ts';
import type { CheckedNotes } from './log/receipt-log.ts';
import type { ReceiptPayload, VaasKeySet } from './receipt.ts';
import { type Refusal, refusalAsValue } from './refusal.ts';
import { type Verification, type VerifyOptions, verifyWithNotes } from './verify.ts';

/** The first line of an export (`GET /v1/receipts/export`): JSON lines, every further one a receipt, the last one a {@link ReceiptExportEnd}. */
export interface ReceiptExportHeader {
  object: 'receipt_export';
  version: 'tallygate-export/v1';
  /** `YYYY-MM`, UTC, of the requests: what is given back of one is in the same month. */
  month: string;
  livemode: boolean;
  /** RFC 3339, UTC, with milliseconds. */
  created_at: string;
  /** The state of the log that every proof of the file is against; null while the log is empty. */
  checkpoint: string | null;
  /** The published keys at that time, for the record: what verifies is the copy that the reader has kept. */
  keys: VaasKeySet['keys'];
}

/** The last line: without it, the file was cut. */
export interface ReceiptExportEnd {
  object: 'receipt_export.end';
  receipts: number;
  /** Of these, how many carry their proof. */
  logged: number;
}

export interface ExportOptions extends VerifyOptions {
  /** Where given, every receipt has to be of this account. */
  readonly accountId?: string;
}

/** Why a line, or the file, is not accepted although its receipts may hold one by one. */
export type ExportFault =
  /** The first line is no header of this version, or a line is no receipt. */
  | 'malformed_export'
  /** There is no last line, text after it, or the last line counts other receipts than there are. */
  | 'incomplete_export'
  /** A receipt that was there before. */
  | 'repeated_receipt'
  /** A receipt of another month, another mode or another account. */
  | 'foreign_receipt'
  /** A proof against another state of the log than the header's. */
  | 'other_checkpoint';

/** A receipt of an export, by the number of its line. */
export interface ExportedReceipt {
  readonly line: number;
  readonly verdict: Verification | { readonly valid: false; readonly code: ExportFault; readonly reason: string };
}

/** What the file comes to. */
export interface ExportSummary {
  readonly month: string;
  readonly livemode: boolean;
  readonly receipts: number;
  readonly valid: number;
  /** Of the valid ones, how many were shown to stand in the log. */
  readonly in_log: number;
  /** Nano-USD at catalogue prices: what was billed, less what was given back and corrected. Of valid receipts alone. */
  readonly billed_nano_usd: string;
  /** What is wrong with the file as such. */
  readonly faults: readonly { readonly code: ExportFault; readonly reason: string }[];
}

/**
 * Verifies an export line by line, without asking anybody and without holding it in memory: yields every receipt with its verdict and returns
 * the summary. It does not show that the file has all receipts of the month: only the log's operator and the account know that.
 */
export async function* verifyExport(
  lines: Iterable<string> | AsyncIterable<string>,
  keys: unknown,
  { accountId, ...options }: ExportOptions = {},
): AsyncGenerator<ExportedReceipt, ExportSummary, undefined> {
  let header: ReceiptExportHeader | undefined;
  let end: ReceiptExportEnd | undefined;
  let number = 0;
  const sums = new Sums();
  const faults: ExportSummary['faults'][number][] = [];
  const fault = (code: ExportFault, reason: string) => void faults.push({ code, reason });
  const notes: CheckedNotes = new Map();

  for await (const text of lines) {
    number += 1;
    if (number === 1) {
      header = headerOf(text);
      if (!header)
        return { ...sums.summary({ month: '', livemode: false }), faults: [malformed('The first line is no header of an export.')] };
      continue;
    }
    if (text === '' || !header) continue;
    if (end) fault('incomplete_export', `Line ${number} stands after the last one.`);
    end ??= endOf(text);
    if (end) continue;
    const verdict = verdictOf(text, header, { keys, options, accountId, notes });
    const accepted = verdict.valid && !sums.add(verdict) ? repeated(verdict.payload) : verdict;
    sums.count(accepted.valid);
    yield { line: number, verdict: accepted };
  }
  if (!header) return { ...sums.summary({ month: '', livemode: false }), faults: [malformed('The file is empty.')] };
  if (!end) fault('incomplete_export', 'The last line, which says how many receipts there are, is missing: the file was cut.');
  else if (end.receipts !== sums.receipts)
    fault('incomplete_export', `The last line counts ${end.receipts} receipts, the file has ${sums.receipts}.`);
  return { ...sums.summary(header), faults };
}

interface Verifying {
  readonly keys: unknown;
  readonly options: VerifyOptions;
  readonly accountId: string | undefined;
  readonly notes: CheckedNotes;
}

function verdictOf(text: string, header: ReceiptExportHeader, { keys, options, accountId, notes }: Verifying): ExportedReceipt['verdict'] {
  const verdict = refusalAsValue(() => {
    const receipt = readJson(text);
    const log = isPlainObject(receipt) && isPlainObject(receipt['log']) ? receipt['log'] : {};
    return { ...verifyWithNotes(receipt, keys, { options, notes }), checkpoint: log['checkpoint'] };
  });
  if (!verdict.valid) return verdict;
  const { checkpoint, ...verified } = verdict;
  const { payload, checks } = verified;
  const foreign = foreignness(payload, header, accountId);
  if (foreign) return { valid: false, code: 'foreign_receipt', reason: foreign };
  if (checks.log !== 'pending' && checkpoint !== header.checkpoint)
    return { valid: false, code: 'other_checkpoint', reason: `${payload.receipt_id} is proven against another state of the log.` };
  return verified;
}

function foreignness(
  { receipt_id: id, started_at, livemode, nonce, account_hash }: ReceiptPayload,
  header: ReceiptExportHeader,
  accountId?: string,
) {
  if (!started_at.startsWith(`${header.month}-`)) return `${id} is of a request of ${started_at}, not of ${header.month}.`;
  if (livemode !== header.livemode) return `${id} is of ${livemode ? 'live' : 'test'} mode.`;
  if (accountId !== undefined && accountHash(nonce, accountId) !== account_hash) return `${id} is of another account.`;
  return undefined;
}

/** What has been counted so far. */
class Sums {
  receipts = 0;
  #valid = 0;
  #logged = 0;
  #billed = 0n;
  /** Cost by receipt: a correction takes the place of one of them. */
  readonly #costs = new Map<string, bigint>();

  count(isValid: boolean): void {
    this.receipts += 1;
    if (isValid) this.#valid += 1;
  }

  /** @returns false for a receipt that was there before */
  add({ payload, checks }: Extract<Verification, { valid: true }>): boolean {
    const { receipt_id: id, kind, refund_of: of } = payload;
    if (this.#costs.has(id)) return false;
    const cost = BigInt(payload.cost_nano_usd);
    this.#costs.set(id, cost);
    if (checks.log === 'ok') this.#logged += 1;
    this.#billed += kind === 'refund' ? -cost : kind === 'correction' ? cost - (this.#costs.get(of ?? '') ?? 0n) : cost;
    return true;
  }

  summary({ month, livemode }: Pick<ReceiptExportHeader, 'month' | 'livemode'>): Omit<ExportSummary, 'faults'> {
    return { month, livemode, receipts: this.receipts, valid: this.#valid, in_log: this.#logged, billed_nano_usd: this.#billed.toString() };
  }
}

const malformed = (reason: string) => ({ code: 'malformed_export', reason }) as const;
const repeated = ({ receipt_id: id }: ReceiptPayload): ExportedReceipt['verdict'] => ({
  valid: false,
  code: 'repeated_receipt',
  reason: `${id} was there before.`,
});

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

function headerOf(text: string): ReceiptExportHeader | undefined {
  const value = parsed(text);
  return isPlainObject(value) && isHeader(value) ? value : undefined;
}

const isHeader = (value: object): value is ReceiptExportHeader =>
  'object' in value &&
  value.object === 'receipt_export' &&
  'version' in value &&
  value.version === 'tallygate-export/v1' &&
  'month' in value &&
  typeof value.month === 'string' &&
  MONTH.test(value.month) &&
  'livemode' in value &&
  typeof value.livemode === 'boolean' &&
  'checkpoint' in value &&
  (value.checkpoint === null || typeof value.checkpoint === 'string');

function endOf(text: string): ReceiptExportEnd | undefined {
  // Parsing every line twice would be most of the work: only short ones can be the last.
  if (text.length > 200) return undefined;
  const value = parsed(text);
  return isPlainObject(value) && isEnd(value) ? value : undefined;
}

const isEnd = (value: object): value is ReceiptExportEnd =>
  'object' in value && value.object === 'receipt_export.end' && 'receipts' in value && 'logged' in value;

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  const read = refusalAsValue<{ valid: true; value: unknown } | Refusal>(() => ({ valid: true, value: readJson(text) }));
  return read.valid ? read.value : undefined;
}

/** Whether a text begins as an export does, and so is to be read line by line. */
export const isExport = (text: string): boolean => headerOf(text.split('\n', 1)[0] ?? '') !== undefined;
