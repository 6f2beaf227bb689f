import { accountHash, invoiceDigest, receiptDigest } from '../src/digest.ts';
import { toHex } from '../src/encoding.ts';
import type { InvoiceMonth, InvoicePayload, InvoiceResponse } from '../src/invoice/invoice.ts';
import { dueOf } from '../src/invoice/invoice-sums.ts';
import { type BillFault, figuresOf } from '../src/invoice/verify-bill.ts';
import { canonicalBytes, detachedJws, jwsSigningInput } from '../src/jws.ts';
import { declarationDigest } from '../src/log/declaration.ts';
import { leafHash } from '../src/log/tree.ts';
import { MonthBooks } from '../src/month-books.ts';
import { QUOTA_METERS } from '../src/quota-units.ts';
import type { ReceiptPayload } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { exportOf, linesOf } from './export-vectors.ts';
import { halfCovered } from './payment-vectors.ts';
import { entryAt, loggedPrice } from './vector-log.ts';
import { accountId, current, issue, payloadWith, priceDeclaration, refundWith, sign } from './vector-receipts.ts';

/** An invoice beside exports of the receipts that it counts. */
export interface InvoiceVector {
  readonly why: string;
  readonly invoice: unknown;
  /** Line by line. */
  readonly exports: readonly (readonly string[])[];
  /** Why the invoice is refused by itself, or what contradicts it; none where it follows from its receipts. Each once, sorted. */
  readonly expected_codes: readonly (RefusalCode | BillFault)[];
  /** Months of which no export was given; none otherwise. */
  readonly unchecked?: readonly string[];
}

const nonce = '101112131415161718191a1b1c1d1e1f';
const PRO = { plan: 'pro@1', quota: { requests: 50_000, tokens: 2_310, images: 500, audio_seconds: 36_000, video_seconds: 60 } };

const numbered = (payloads: readonly ReceiptPayload[]): ReceiptPayload[] =>
  payloads.map((payload, at) => ({ ...payload, account_sequence: at + 1, receipt_id: `${payload.receipt_id.slice(0, -2)}${at + 10}` }));

const request = (at: number) => `req_019aa2f1c2d37b6e8c4d1f00aa55ee0${at}`;
/** Covered, half covered, charged, and the last one given back: 192,000 nano-USD are charged. */
const november = numbered([
  payloadWith({
    request_id: request(1),
    payment: { plan: 'pro@1', funding: 'balance', covered: { requests: 1, tokens: 1540 }, charged_nano_usd: '0' },
  }),
  halfCovered({ request_id: request(2) }),
  payloadWith({ request_id: request(3) }),
  refundWith({ request_id: request(3) }),
]).map((payload, _, all) => (payload.kind === 'refund' ? { ...payload, refund_of: all[2]?.receipt_id ?? null } : payload));

const inDecember = (payload: ReceiptPayload): ReceiptPayload => ({
  ...payload,
  started_at: '2026-12-02T08:00:00.000Z',
  completed_at: '2026-12-02T08:00:01.250Z',
});
const december = numbered([inDecember(payloadWith({ request_id: request(5) }))]);
/** Half of a request of November is given back, after its invoice. */
const late: ReceiptPayload = {
  ...refundWith({
    request_id: request(2),
    payment: { plan: 'pro@1', funding: 'balance', covered: { requests: 1, tokens: 770 }, charged_nano_usd: '192000' },
  }),
  account_sequence: 5,
  refund_of: november[1]?.receipt_id ?? null,
  completed_at: '2026-12-03T09:00:00.000Z',
};

/** What a month's receipts with these numbers come to. */
function monthOf(month: string, payloads: readonly ReceiptPayload[], first: number, last: number): InvoiceMonth {
  const books = new MonthBooks();
  for (const payload of payloads) books.enter(payload);
  const sums = books.sumsOf({ first, last });
  const covered = Object.fromEntries(
    QUOTA_METERS.flatMap((meter) => (sums.covered[meter] === 0n ? [] : [[meter, Number(sums.covered[meter])]])),
  );
  return { month, first_number: first, last_number: last, ...figuresOf(sums, payloads[0]?.livemode ?? true), covered };
}

/** An invoice of these months whose own figures agree. */
function invoiceOf(months: InvoiceMonth[], changes: Partial<InvoicePayload> = {}): InvoicePayload {
  const sum = (field: 'from_balance_nano_usd' | 'by_invoice_nano_usd') => months.reduce((total, month) => total + BigInt(month[field]), 0n);
  const [balance, owed] = [sum('from_balance_nano_usd'), sum('by_invoice_nano_usd')];
  const { due, carried } = dueOf(owed + BigInt(changes.carried_before_nano_usd ?? '0'));
  return {
    version: 'tallygate-invoice/v1',
    invoice_id: '7f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e5f',
    nonce,
    account_hash: accountHash(nonce, accountId),
    livemode: true,
    month: months[0]?.month ?? '2026-11',
    sequence: 1,
    previous: null,
    plans: [PRO],
    months,
    total_nano_usd: `${balance + owed}`,
    from_balance_nano_usd: `${balance}`,
    by_invoice_nano_usd: `${owed}`,
    carried_before_nano_usd: '0',
    due_nano_usd: `${due}`,
    carried_nano_usd: `${carried}`,
    issued_at: '2026-12-01T01:00:00.000Z',
    ...changes,
  };
}

function signed(payload: InvoicePayload): InvoiceResponse {
  const jws = detachedJws(
    current.kid,
    sign(jwsSigningInput(current.kid, canonicalBytes(payload), 'tallygate-invoice'), current),
    'tallygate-invoice',
  );
  return { object: 'invoice', id: payload.invoice_id, payload, digest: toHex(invoiceDigest(payload)), jws, log: { state: 'pending' } };
}

const own = monthOf('2026-11', november, 1, 4);
const honest = invoiceOf([own]);
const ofNovember = exportOf(november);
const ofDecember = exportOf(december, {}, { month: '2026-12' });
const withLate = exportOf([...november, late]);
const next = (months: InvoiceMonth[]) =>
  invoiceOf(months, { sequence: 2, previous: toHex(invoiceDigest(honest)), issued_at: '2027-01-01T01:00:00.000Z' });
const decemberWithLate = next([monthOf('2026-12', december, 1, 1), monthOf('2026-11', [...november, late], 5, 5)]);

const follows = (why: string, payload: InvoicePayload, ...exports: (readonly string[])[]): InvoiceVector => ({
  ...{ why, invoice: signed(payload), exports, expected_codes: [] },
});
const refused = (code: RefusalCode, why: string, invoice: unknown): InvoiceVector => ({
  ...{ why, invoice, exports: [ofNovember], expected_codes: [code] },
});
const contradicted = (
  why: string,
  payload: InvoicePayload,
  codes: readonly BillFault[],
  ...exports: (readonly string[])[]
): InvoiceVector => ({
  ...{ why, invoice: signed(payload), exports: exports.length > 0 ? exports : [ofNovember], expected_codes: [...codes].sort() },
});
/** A month that says so much more was used, and charged. */
const dearer = (by: bigint): InvoiceMonth => ({
  ...own,
  used_nano_usd: `${BigInt(own.used_nano_usd) + by}`,
  cost_nano_usd: `${BigInt(own.cost_nano_usd) + by}`,
  from_balance_nano_usd: `${BigInt(own.from_balance_nano_usd) + by}`,
});
const inTestMode = numbered([payloadWith({ request_id: request(6), livemode: false })]);
const byInvoice = numbered([
  payloadWith({
    ...{
      request_id: request(7),
      usage: { ...november[0]?.usage, output_tokens: 34_000 } as ReceiptPayload['usage'],
      cost_nano_usd: '20580000',
    },
    payment: { plan: 'enterprise@2', funding: 'invoice', covered: {}, charged_nano_usd: '20580000' },
  }),
]);
const ENTERPRISE = { plan: 'enterprise@2', quota: { requests: 0, tokens: 0, images: null, audio_seconds: null, video_seconds: null } };

/** The receipts of November and its invoice as entries of one log, in this order, behind the price. */
function logged(
  why: string,
  order: (invoice: InvoiceResponse) => readonly (ReceiptPayload | InvoiceResponse)[],
  codes: readonly BillFault[],
): InvoiceVector {
  const invoice = signed(honest);
  const entries = order(invoice);
  const digests = entries.map((one) => ('object' in one ? invoiceDigest(one.payload) : receiptDigest(one)));
  const leaves = [declarationDigest(priceDeclaration), ...digests].map((digest) => leafHash(digest));
  const placeOf = (one: ReceiptPayload | InvoiceResponse) => entryAt(leaves, 1 + entries.indexOf(one));
  const receipts = november.map((payload) => issue(payload, current, placeOf(payload), loggedPrice(leaves)));
  const { checkpoint } = placeOf(invoice);
  const lines = linesOf({ checkpoint }, receipts, { object: 'receipt_export.end', receipts: receipts.length, logged: receipts.length });
  return { why, invoice: { ...invoice, log: placeOf(invoice) }, exports: [lines], expected_codes: codes };
}

export const invoiceVectors: Readonly<Record<string, InvoiceVector>> = {
  'quota-and-balance': follows(
    'A request that the quota covered, one that it covered half, one charged and given back.',
    honest,
    ofNovember,
  ),
  'by-invoice': follows(
    'Beyond the quota an invoice pays: whole cents are due, with what the month before left.',
    invoiceOf([monthOf('2026-11', byInvoice, 1, 1)], {
      ...{ plans: [ENTERPRISE], sequence: 2, previous: 'a'.repeat(64), carried_before_nano_usd: '9420001' },
    }),
    exportOf(byInvoice),
  ),
  'test-mode': follows(
    'In test mode it says what it would have cost, and nobody pays.',
    invoiceOf([monthOf('2026-11', inTestMode, 1, 1)], { livemode: false, plans: [] }),
    exportOf(inTestMode, {}, { livemode: false }),
  ),
  'given-back-after-its-invoice': follows(
    'What was given back of November after its invoice is on that of December.',
    decemberWithLate,
    ofDecember,
    withLate,
  ),
  'logged-after-its-receipts': logged('It is in the log after all that it counts.', (invoice) => [...november, invoice], []),
  'logged-before-a-receipt': logged(
    'A receipt that it counts came into the log after it, and is dated back.',
    (invoice) => [...november.slice(0, 3), invoice, ...november.slice(3)],
    ['receipt_after_invoice'],
  ),
  'export-not-in-order': contradicted(
    'The export has a receipt twice.',
    honest,
    ['export_not_in_order'],
    exportOf([...november, ...november.slice(0, 1)]),
  ),
  'later-receipts': follows('The export has a receipt that came after the invoice: it is on the next one.', honest, withLate),
  'without-export': {
    ...contradicted('Of November no export was given: nothing is known of it.', decemberWithLate, [], ofDecember),
    unchecked: ['2026-11'],
  },
  'false-total': contradicted('A nano-dollar more was used, and charged, than the receipts say.', invoiceOf([dearer(1n)]), [
    'invoice_mismatch',
  ]),
  'quota-withheld': contradicted(
    'What the quota had covered was taken from the balance.',
    invoiceOf([{ ...own, covered_nano_usd: '0', from_balance_nano_usd: own.cost_nano_usd, covered: {} }]),
    ['invoice_mismatch', 'quota_mismatch'],
  ),
  'counted-to-another-payer': contradicted(
    'What the balance had paid is to be paid again.',
    invoiceOf([{ ...own, from_balance_nano_usd: '0', by_invoice_nano_usd: own.from_balance_nano_usd }]),
    ['invoice_mismatch'],
  ),
  'another-quota-of-units': contradicted(
    'The quota is said to have covered a token less.',
    invoiceOf([{ ...own, covered: { ...own.covered, tokens: 2309 } }]),
    ['quota_mismatch'],
  ),
  'another-plan': contradicted('A plan that no receipt names.', invoiceOf([own], { plans: [{ ...PRO, plan: 'free@1' }] }), [
    'plan_mismatch',
  ]),
  'receipt-left-out': contradicted(
    'The export does not have the last receipt, the refund, and counts itself as whole.',
    honest,
    ['invoice_mismatch', 'missing_receipts'],
    exportOf(november.slice(0, -1)),
  ),
  'receipt-counted-twice': contradicted(
    'The invoice counts one receipt more than there are, of the cost of another.',
    invoiceOf([{ ...dearer(384_000n), last_number: 5, charges: 4 }]),
    ['invoice_mismatch', 'missing_receipts'],
  ),
  'export-of-another-month': contradicted('The receipts are of December.', honest, ['foreign_export'], ofNovember, ofDecember),
  'sum-of-its-months': refused(
    'invoice_inconsistent',
    'The total is a nano-dollar more than its months.',
    signed({ ...honest, total_nano_usd: '192001' }),
  ),
  'due-not-in-cents': refused(
    'invoice_inconsistent',
    'What is due is not what is owed, in whole cents.',
    signed({ ...honest, due_nano_usd: '10000000' }),
  ),
  'covered-and-paid-beyond-cost': refused(
    'invoice_inconsistent',
    'What was covered and paid is more than the cost.',
    signed(invoiceOf([{ ...own, covered_nano_usd: '576001' }])),
  ),
  'counts-without-numbers': refused(
    'invoice_inconsistent',
    'Five receipts with the numbers 1 to 4.',
    signed(invoiceOf([{ ...own, charges: 4 }])),
  ),
  'begins-at-the-second': refused(
    'invoice_inconsistent',
    'The month begins at the second receipt.',
    signed(invoiceOf([{ ...own, first_number: 2, charges: 2 }])),
  ),
  'later-month': refused(
    'invoice_inconsistent',
    'It counts receipts of a month after its own.',
    signed(invoiceOf([own, { ...monthOf('2026-12', december, 1, 1) }])),
  ),
  'signed-as-receipt': refused('malformed', 'Its signature is one of a receipt.', {
    ...signed(honest),
    jws: detachedJws(current.kid, sign(jwsSigningInput(current.kid, canonicalBytes(honest)), current)),
  }),
  'changed-after-signing': refused('bad_digest', 'It was changed after it was digested and signed.', {
    ...signed(honest),
    payload: { ...honest, issued_at: '2026-12-01T02:00:00.000Z' },
  }),
  'digest-of-a-receipt': refused('bad_digest', 'Its digest has the prefix of receipts.', {
    ...signed(honest),
    digest: toHex(invoiceDigest(next([own]))),
  }),
  'newer-version': refused(
    'unknown_version',
    'A version that this verifier does not know.',
    signed({ ...honest, version: 'tallygate-invoice/v2' as never }),
  ),
};
