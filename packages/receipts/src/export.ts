import { isPlainObject } from './canonical.ts';
import { readJson } from './json.ts';
import type { ProvenPrices } from './log/price-entry.ts';
import type { CheckedNotes } from './log/receipt-log.ts';
import { type BookFault, type FoundInBooks, MonthBooks } from './month-books.ts';
import type { ReceiptPayload, VaasKeySet } from './receipt.ts';
import { type Refusal, refusalAsValue } from './refusal.ts';
import { foreignSubject } from './subjects.ts';
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
  /** Where the receipts are put together; given by who wants to know more of them than the summary says. */
  readonly books?: MonthBooks;
}

/** Why a line, or the file, is not accepted although its receipts may hold one by one. */
export type ExportFault =
  /** The first line is no header of this version, or a line is no receipt. */
  | 'malformed_export'
  /** There is no last line, text after it, or the last line counts other receipts, or receipts with proofs, than there are. */
  | 'incomplete_export'
  | BookFault
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
  /** Of the others, how many are in order but for a price that is in no list at hand. */
  readonly unpriced: number;
  /** Of the valid ones, how many were shown to stand in the log. */
  readonly in_log: number;
  /** Nano-USD at catalogue prices: what was billed, less what was given back and corrected. Of what is in order alone, or has but a price that is not at hand. */
  readonly billed_nano_usd: string;
  /** What is wrong with the file as such. */
  readonly faults: readonly { readonly code: ExportFault; readonly reason: string }[];
}

/**
 * Verifies an export line by line, without asking anybody and without holding more of it in memory than ids and costs: yields every receipt
 * with its verdict and returns the summary, which names the refunds and corrections that do not go with their receipt. The receipts of a month are numbered without a gap, so one that was left out is seen, unless it is among the last: compare their count with the invoice.
 */
export async function* verifyExport(
  lines: Iterable<string> | AsyncIterable<string>,
  keys: unknown,
  { accountId, books = new MonthBooks(), ...options }: ExportOptions = {},
): AsyncGenerator<ExportedReceipt, ExportSummary, undefined> {
  let header: ReceiptExportHeader | undefined;
  let end: ReceiptExportEnd | undefined;
  let number = 0;
  const sums = new Sums(books);
  const faults: ExportSummary['faults'][number][] = [];
  const fault = (code: ExportFault, reason: string) => void faults.push({ code, reason });
  const notes: CheckedNotes = new Map();
  const proven: ProvenPrices = new Map();

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
    const accepted = sums.add(verdictOf(text, header, { keys, options, accountId, notes, proven }));
    yield { line: number, verdict: accepted };
  }
  if (!header) return { ...sums.summary({ month: '', livemode: false }), faults: [malformed('The file is empty.')] };
  if (!end) fault('incomplete_export', 'The last line, which says how many receipts there are, is missing: the file was cut.');
  else if (end.receipts !== sums.receipts || end.logged !== sums.withProof)
    fault(
      'incomplete_export',
      `The last line counts ${end.receipts} receipts, ${end.logged} with a proof; the file has ${sums.receipts}, ${sums.withProof} with a proof.`,
    );
  const { billed, faults: inBooks } = sums.books.close();
  return { ...sums.summary(header, billed), faults: [...faults, ...inBooks] };
}

interface Verifying {
  readonly keys: unknown;
  readonly options: VerifyOptions;
  readonly accountId: string | undefined;
  readonly notes: CheckedNotes;
  readonly proven: ProvenPrices;
}

interface ReadLine {
  readonly verdict: ExportedReceipt['verdict'];
  /** Whether there is something that says to be its proof, good or bad. */
  readonly hasProof: boolean;
  /** What it says, where nothing speaks against it but that its price is in no list at hand: it is in the books all the same. */
  readonly unpriced?: ReceiptPayload;
}

function verdictOf(text: string, header: ReceiptExportHeader, { keys, options, accountId, notes, proven }: Verifying): ReadLine {
  let log: Readonly<Record<string, unknown>> = {};
  const verified = (asked: VerifyOptions) =>
    refusalAsValue(() => {
      const receipt = readJson(text);
      if (isPlainObject(receipt) && isPlainObject(receipt['log'])) log = receipt['log'];
      return verifyWithNotes(receipt, keys, { options: asked, notes, proven });
    });
  const verdict = verified(options);
  const { prices: _, ...unpriced } = options;
  const withoutPrice = (refusal: Refusal, hasProof: boolean): ReadLine => {
    const beside = refusal.code === 'price_unpublished' ? verified(unpriced) : refusal;
    const isOurs = beside.valid && foreignness(beside.payload, header, accountId) === undefined;
    return { verdict: refusal, hasProof, ...(isOurs && { unpriced: beside.payload }) };
  };
  const hasProof = log['state'] === 'logged';
  if (!verdict.valid) return withoutPrice(verdict, hasProof);
  const { payload, checks } = verdict;
  const refused = (code: ExportFault, reason: string): ReadLine => ({ verdict: { valid: false, code, reason }, hasProof });
  const foreign = foreignness(payload, header, accountId);
  if (foreign) return refused('foreign_receipt', foreign);
  if (checks.log !== 'pending' && log['checkpoint'] !== header.checkpoint)
    return refused('other_checkpoint', `${payload.receipt_id} is proven against another state of the log.`);
  return { verdict, hasProof };
}

function foreignness(payload: ReceiptPayload, header: ReceiptExportHeader, accountId?: string) {
  const { receipt_id: id, started_at, livemode } = payload;
  if (!started_at.startsWith(`${header.month}-`)) return `${id} is of a request of ${started_at}, not of ${header.month}.`;
  if (livemode !== header.livemode) return `${id} is of ${livemode ? 'live' : 'test'} mode.`;
  const foreign = foreignSubject(payload, { accountId });
  if (foreign !== undefined) return `${id} is ${foreign}.`;
  return undefined;
}

/** What has been counted so far. */
class Sums {
  readonly books: MonthBooks;
  receipts = 0;
  withProof = 0;
  #valid = 0;
  #unpriced = 0;
  #logged = 0;

  constructor(books: MonthBooks) {
    this.books = books;
  }

  /** Returns the verdict of the receipt beside those before it. */
  add({ verdict, hasProof, unpriced }: ReadLine): ExportedReceipt['verdict'] {
    this.receipts += 1;
    if (hasProof) this.withProof += 1;
    const payload = verdict.valid ? verdict.payload : unpriced;
    const found: FoundInBooks | undefined = payload && this.books.enter(payload);
    if (found) return { valid: false, ...found };
    if (verdict.valid) this.#valid += 1;
    if (unpriced) this.#unpriced += 1;
    if (verdict.valid && verdict.checks.log === 'ok') this.#logged += 1;
    return verdict;
  }

  summary({ month, livemode }: Pick<ReceiptExportHeader, 'month' | 'livemode'>, billed = 0n): Omit<ExportSummary, 'faults'> {
    const counts = { receipts: this.receipts, valid: this.#valid, unpriced: this.#unpriced, in_log: this.#logged };
    return { month, livemode, ...counts, billed_nano_usd: billed.toString() };
  }
}

const malformed = (reason: string) => ({ code: 'malformed_export', reason }) as const;

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

/** The state of the log that an export is against, as its first line has it: not verified. Undefined where the log was empty, and for other texts. */
export const checkpointOfExport = (text: string): string | undefined => headerOf(text.split('\n', 1)[0] ?? '')?.checkpoint ?? undefined;

/** Whether a text begins as an export does, and so is to be read line by line. */
export const isExport = (text: string): boolean => headerOf(text.split('\n', 1)[0] ?? '') !== undefined;
