import type { ExportFault, ReceiptExportEnd, ReceiptExportHeader } from '../src/export.ts';
import type { ReceiptPayload, ReceiptResponse } from '../src/receipt.ts';
import { halfCovered } from './payment-vectors.ts';
import { entryAt, INDEX, leavesAround } from './vector-log.ts';
import { issue, keySet, payloadWith, refundWith } from './vector-receipts.ts';

/** An export whose receipts hold one by one, and what they come to together. */
export interface ExportVector {
  readonly why: string;
  readonly lines: readonly string[];
  /** How many lines are in order. */
  readonly valid: number;
  readonly billed_nano_usd: string;
  /** Of lines and of the file as such, sorted; none where all is in order. */
  readonly expected_codes: readonly ExportFault[];
}

const header: ReceiptExportHeader = {
  object: 'receipt_export',
  version: 'tallygate-export/v1',
  month: '2026-11',
  livemode: true,
  created_at: '2026-12-01T00:00:00.000Z',
  checkpoint: null,
  keys: keySet.keys,
};

/** Numbers the receipts as they stand. */
const numbered = (payloads: readonly ReceiptPayload[]): ReceiptPayload[] =>
  payloads.map((payload, at) => ({ ...payload, account_sequence: at + 1 }));

/** As `exportOf`, of receipts that are there. */
export const linesOf = (changes: Partial<ReceiptExportHeader>, receipts: readonly ReceiptResponse[], end: ReceiptExportEnd): string[] =>
  [{ ...header, ...changes }, ...receipts, end].map((line) => JSON.stringify(line));

export function exportOf(
  payloads: readonly ReceiptPayload[],
  counted: Partial<ReceiptExportEnd> = {},
  changes: Partial<ReceiptExportHeader> = {},
): string[] {
  const end: ReceiptExportEnd = { object: 'receipt_export.end', receipts: payloads.length, logged: 0, ...counted };
  return linesOf(
    changes,
    payloads.map((payload) => issue(payload)),
    end,
  );
}

/** Costs 384,000 nano-USD. */
const billed = payloadWith();
const second = { receipt_id: '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e02' };
const third = { receipt_id: '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e03' };
const another = payloadWith({ receipt_id: '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e04', request_id: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee78' });
const failed = (changes: Partial<ReceiptPayload>) =>
  payloadWith({ outcome: 'failed', usage: { ...billed.usage, input_tokens: 0, output_tokens: 0 }, cost_nano_usd: '0', ...changes });
const refund = refundWith();
/** Costs 180,000 nano-USD: the answer is no longer counted. */
const correction = payloadWith({
  receipt_id: '6a1d2b63-8e4c-4f1a-8b97-3c2a7d4e5f61',
  kind: 'correction',
  usage: { ...billed.usage, output_tokens: 0 },
  cost_nano_usd: '180000',
  refund_of: billed.receipt_id,
  refund_reason: 'The provider had counted an answer that it never gave.',
});
const refundOfCorrection = refundWith({ refund_of: correction.receipt_id, usage: correction.usage, cost_nano_usd: '180000' });

/** Charged so much, and so many tokens covered. */
const shared = (charged: string, tokens: number): ReceiptPayload['payment'] => ({
  ...billed.payment,
  covered: { requests: 1, tokens },
  charged_nano_usd: charged,
});

const inOrder = (why: string, payloads: readonly ReceiptPayload[], cost: string): ExportVector => ({
  ...{ why, lines: exportOf(numbered(payloads)), valid: payloads.length, billed_nano_usd: cost, expected_codes: [] },
});
/** What is seen at once is no valid line; what only the whole file shows is a fault of the file. */
const refused = (
  code: ExportFault,
  why: string,
  payloads: readonly ReceiptPayload[],
  { valid, cost }: { readonly valid: number; readonly cost: string },
): ExportVector => ({ why, lines: exportOf(numbered(payloads)), valid, billed_nano_usd: cost, expected_codes: [code] });

export const exportVectors: Readonly<Record<string, ExportVector>> = {
  'given-back': inOrder('A request that was given back, and another one.', [billed, refund, another], '384000'),
  'given-back-in-part': inOrder('Half of the cost was given back.', [billed, refundWith({ cost_nano_usd: '192000' })], '192000'),
  corrected: inOrder('The correction counts in the place of what it corrects.', [billed, correction, another], '564000'),
  'corrected-before-billed': inOrder('The same, the correction first: the order of lines says nothing.', [correction, billed], '180000'),
  'corrected-and-given-back': inOrder('What the correction says was given back.', [billed, correction, refundOfCorrection], '0'),
  'failed-and-tried-again': inOrder(
    'Two attempts without an answer, one with: billed once.',
    [failed(second), failed(third), billed],
    '384000',
  ),
  'billed-twice': refused('billed_twice', 'Two receipts charge for one request.', [billed, payloadWith(second)], {
    valid: 1,
    cost: '384000',
  }),
  'billed-twice-as-another-kind': refused(
    'billed_twice',
    'The second time as a line of a batch.',
    [billed, payloadWith({ ...second, kind: 'batch_line' })],
    { valid: 1, cost: '384000' },
  ),
  'given-back-twice': refused('refunded_twice', 'Two refunds of one receipt.', [billed, refund, refundWith(second)], {
    valid: 2,
    cost: '0',
  }),
  'given-back-as-billed-and-as-corrected': refused(
    'refunded_twice',
    'A refund of the receipt, and one of its correction.',
    [billed, correction, refundOfCorrection, refundWith({ ...second, cost_nano_usd: '180000' })],
    { valid: 3, cost: '0' },
  ),
  'given-back-without-receipt': refused('refund_of_nothing', 'What is given back was never billed.', [refund, another], {
    valid: 2,
    cost: '384000',
  }),
  'given-back-of-another-request': refused(
    'refund_of_nothing',
    'The refund names a receipt that is there, of another request.',
    [billed, another, refundWith({ refund_of: another.receipt_id })],
    { valid: 3, cost: '768000' },
  ),
  'given-back-above-receipt': refused(
    'refund_exceeds_receipt',
    'The refund follows from its own usage, which is larger than what was billed.',
    [billed, refundWith({ usage: { ...billed.usage, output_tokens: 680 }, cost_nano_usd: '588000' })],
    { valid: 2, cost: '384000' },
  ),
  'given-back-above-correction': refused(
    'refund_exceeds_receipt',
    'What was billed first is given back, after it was corrected to less.',
    [billed, correction, refund],
    { valid: 3, cost: '180000' },
  ),
  'corrected-twice': refused('corrected_twice', 'Two corrections of one request.', [billed, correction, { ...correction, ...second }], {
    valid: 2,
    cost: '180000',
  }),
  'correction-without-receipt': refused('refund_of_nothing', 'What is corrected was never billed.', [correction], { valid: 1, cost: '0' }),
  'correction-of-refund': refused(
    'refund_of_nothing',
    'A refund is not corrected.',
    [billed, refund, { ...correction, refund_of: refund.receipt_id }],
    { valid: 3, cost: '384000' },
  ),
  'corrected-as-it-was-paid': inOrder(
    'Half of the cost was charged: of the corrected cost it is half again, rounded down.',
    [halfCovered(), { ...correction, payment: shared('90000', 600) }],
    '180000',
  ),
  'corrected-in-another-share': refused(
    'share_mismatch',
    'Half of the cost was charged, of the corrected cost all.',
    [halfCovered(), { ...correction, payment: { ...shared('180000', 0), covered: {} } }],
    { valid: 2, cost: '180000' },
  ),
  'given-back-in-another-share': refused(
    'share_mismatch',
    'Half of the cost was charged, and all of it returns to the quota.',
    [halfCovered(), refundWith({ payment: { ...shared('0', 770), covered: { requests: 1, tokens: 1540 } } })],
    { valid: 2, cost: '384000' },
  ),
  'given-back-to-another-payer': refused(
    'share_mismatch',
    'The balance had paid, and the invoice is given back.',
    [billed, refundWith({ payment: { ...billed.payment, funding: 'invoice' } })],
    { valid: 2, cost: '384000' },
  ),
  'repeated-receipt': {
    why: 'One receipt is there twice.',
    lines: exportOf([billed, billed]),
    ...{ valid: 1, billed_nano_usd: '384000', expected_codes: ['repeated_receipt'] },
  },
  'of-another-month': {
    why: 'The second receipt is of a request that began a millisecond before the month.',
    lines: exportOf([billed, { ...another, account_sequence: 2, started_at: '2026-10-31T23:59:59.999Z' }]),
    ...{ valid: 1, billed_nano_usd: '384000', expected_codes: ['foreign_receipt'] },
  },
  'without-header': {
    why: 'The first line is a receipt.',
    lines: exportOf([billed]).slice(1),
    ...{ valid: 0, billed_nano_usd: '0', expected_codes: ['malformed_export'] },
  },
  'another-checkpoint': {
    why: 'The receipt is proven against a state of the log, and the header names none.',
    lines: linesOf({}, [issue(billed, undefined, entryAt(leavesAround(billed), INDEX))], {
      object: 'receipt_export.end',
      receipts: 1,
      logged: 1,
    }),
    ...{ valid: 0, billed_nano_usd: '0', expected_codes: ['other_checkpoint'] },
  },
  'left-out': {
    why: 'The second of three receipts is not there, and the last line says so: its number is missing.',
    lines: exportOf(numbered([billed, failed(second), another]).toSpliced(1, 1)),
    ...{ valid: 2, billed_nano_usd: '768000', expected_codes: ['missing_receipts'] },
  },
  'one-number-for-two': {
    why: 'Two receipts have one number: one of them takes the place of one that was left out.',
    lines: exportOf([billed, { ...another, account_sequence: 1 }]),
    ...{ valid: 1, billed_nano_usd: '384000', expected_codes: ['repeated_number'] },
  },
  'more-proofs-counted': {
    why: 'The last line counts a proof that no receipt carries: it was taken out.',
    lines: exportOf([billed], { logged: 1 }),
    ...{ valid: 1, billed_nano_usd: '384000', expected_codes: ['incomplete_export'] },
  },
};
