import { describe, expect, test } from 'vitest';
import { checkpointNote, entryAt, leavesAround, loggedPrice, rootOf } from '../scripts/vector-log.ts';
import { accountId, current, issue, keySet, payloadWith, priceDeclaration, refundWith, stranger } from '../scripts/vector-receipts.ts';
import { receiptDigest } from './digest.ts';
import { type ExportedReceipt, type ExportOptions, isExport, verifyExport } from './export.ts';
import { declarationDigest } from './log/declaration.ts';
import { leafHash } from './log/tree.ts';

const ids = ['5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e01', '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e02', '5f0c1a52-7d3b-4e0f-9a86-2b1f6c3d4e03'];
const [firstRequest, secondRequest, thirdRequest] = ['req_00000001', 'req_00000002', 'req_00000003'] as const;
const payloads = [
  ...[firstRequest, secondRequest, thirdRequest].map((request_id, at) =>
    payloadWith({ receipt_id: ids[at] ?? '', request_id, account_sequence: at + 1 }),
  ),
  refundWith({ refund_of: ids[0] ?? '', request_id: firstRequest, account_sequence: 4 }),
];
const leaves = [leafHash(declarationDigest(priceDeclaration)), ...payloads.map((payload) => leafHash(receiptDigest(payload)))];
/** The first carries the entry of the price that all of them name. */
const receipts = payloads.map((payload, at) => issue(payload, current, entryAt(leaves, at + 1), at === 0 ? loggedPrice(leaves) : null));
const header = {
  object: 'receipt_export',
  version: 'tallygate-export/v1',
  month: '2026-11',
  livemode: true,
  created_at: '2026-12-01T00:00:00.000Z',
  checkpoint: receipts[0]?.log.state === 'logged' ? receipts[0].log.checkpoint : null,
  keys: keySet.keys,
};
const end = { object: 'receipt_export.end', receipts: 4, logged: 4 };
const linesOf = (...values: unknown[]): string[] => [...values.map((value) => JSON.stringify(value)), ''];

async function verified(lines: string[], options?: ExportOptions) {
  const found: ExportedReceipt[] = [];
  const reading = verifyExport(lines, keySet, options);
  for (;;) {
    const { value, done } = await reading.next();
    if (done) return { found, summary: value, codes: value.faults.map(({ code }) => code) };
    found.push(value);
  }
}
const codesOf = (found: readonly ExportedReceipt[]) => found.map(({ verdict }) => (verdict.valid ? 'valid' : verdict.code));

test('a whole export holds, and comes to what was billed less what was given back', async () => {
  const lines = linesOf(header, ...receipts, end);
  expect(isExport(lines.join('\n'))).toBe(true);
  const { found, summary } = await verified(lines, { accountId });
  expect(codesOf(found)).toEqual(['valid', 'valid', 'valid', 'valid']);
  expect(summary).toEqual({
    month: '2026-11',
    livemode: true,
    receipts: 4,
    valid: 4,
    unpriced: 0,
    in_log: 4,
    billed_nano_usd: (2n * 384_000n).toString(),
    faults: [],
  });
});

test('the entry of a price is proven once for all receipts of a file that name it', async () => {
  const { found } = await verified(linesOf(header, ...receipts, end), { accountId, requireLog: true });
  expect(found.map(({ verdict }) => verdict.valid && verdict.checks.price_entry)).toEqual(['ok', 'ok', 'ok', 'ok']);
  const without = await verified(linesOf(header, ...receipts.map((receipt) => ({ ...receipt, price: null })), end), { requireLog: true });
  expect(new Set(codesOf(without.found))).toEqual(new Set(['not_logged']));
});

test('a correction counts in the place of what it corrects', async () => {
  const correction = payloadWith({
    receipt_id: '6a1d2b63-8e4c-4f1a-8b97-3c2a7d4e5f61',
    kind: 'correction',
    account_sequence: 4,
    usage: { ...payloadWith().usage, output_tokens: 0 },
    cost_nano_usd: '180000',
    request_id: firstRequest,
    refund_of: ids[0] ?? '',
    refund_reason: 'The provider had counted twice.',
  });
  const pending = [...payloads.slice(0, 3), correction].map((payload) => issue(payload));
  const { summary } = await verified(linesOf({ ...header, checkpoint: null }, ...pending, { ...end, logged: 0 }));
  expect(summary).toMatchObject({ valid: 4, in_log: 0, billed_nano_usd: (2n * 384_000n + 180_000n).toString(), faults: [] });
});

describe('what is not in order is named', () => {
  const [first, second, third, refund] = receipts;
  const ofOthers = issue(payloadWith({ receipt_id: ids[1] ?? '', started_at: '2026-10-31T23:59:59.000Z' }));
  const inTestMode = issue(payloadWith({ receipt_id: ids[1] ?? '', livemode: false }));
  const elsewhere = issue(payloads[1] ?? payloadWith(), current, entryAt(leavesAround(payloads[1], 1, 2), 1));
  test.each([
    ['a changed receipt', [first, { ...second, payload: first?.payload }, third, refund], ['valid', 'id_mismatch', 'valid', 'valid']],
    [
      'a receipt by a stranger',
      [first, issue(payloads[1] ?? payloadWith(), stranger), third, refund],
      ['valid', 'unknown_key', 'valid', 'valid'],
    ],
    ['a repeated receipt', [first, second, second, refund], ['valid', 'valid', 'repeated_receipt', 'valid']],
    ['a receipt of another month', [first, ofOthers, third, refund], ['valid', 'foreign_receipt', 'valid', 'valid']],
    ['a receipt of test mode', [first, inTestMode, third, refund], ['valid', 'foreign_receipt', 'valid', 'valid']],
    ['another state of the log', [first, elsewhere, third, refund], ['valid', 'other_checkpoint', 'valid', 'valid']],
    ['a line that is no receipt', [first, 'nonsense', third, refund], ['valid', 'malformed', 'valid', 'valid']],
  ] as const)('%s', async (_, lines, codes) => {
    const { found, summary } = await verified(linesOf(header, ...lines, end));
    expect(codesOf(found)).toEqual(codes);
    expect(summary.valid).toBe(3);
  });

  test('a receipt of another account, where the account is known', async () => {
    const { found } = await verified(linesOf(header, ...receipts, end), { accountId: ids[0] ?? '' });
    expect(new Set(codesOf(found))).toEqual(new Set(['foreign_receipt']));
  });

  test.each([
    ['a file that was cut', linesOf(header, ...receipts), ['incomplete_export']],
    ['a receipt that was taken out', linesOf(header, ...receipts.slice(0, -1), end), ['incomplete_export']],
    [
      'a receipt that was left out from the start',
      linesOf(header, ...receipts.toSpliced(2, 1), { ...end, receipts: 3, logged: 3 }),
      ['missing_receipts'],
    ],
    [
      'proofs that were taken out',
      linesOf(header, ...receipts.map((receipt) => ({ ...receipt, log: { state: 'pending' } })), end),
      ['incomplete_export'],
    ],
    ['text after the end', linesOf(header, ...receipts, end, end), ['incomplete_export']],
    ['no header', linesOf(...receipts, end), ['malformed_export']],
    ['another version', linesOf({ ...header, version: 'tallygate-export/v2' }, end), ['malformed_export']],
    ['an empty file', [], ['malformed_export']],
  ])('%s', async (_, lines, codes) => {
    expect((await verified(lines)).codes).toEqual(codes);
  });
});

test('a last line that counts no proofs is one of a file whose proofs nobody can miss', async () => {
  const pending = receipts.map((receipt) => ({ ...receipt, log: { state: 'pending' } }));
  expect((await verified(linesOf(header, ...pending, { ...end, logged: 0 }))).codes).toEqual([]);
  expect((await verified(linesOf(header, ...receipts, { ...end, logged: 3 }))).codes).toEqual(['incomplete_export']);
});

test('the state of the log is checked once for all receipts that share it, and by its own signature', async () => {
  const forged = checkpointNote({ size: 5, root: rootOf(leaves) }, { keys: [stranger] });
  const swapped = receipts.map((receipt) => ({ ...receipt, log: { ...receipt.log, checkpoint: forged } }));
  const { found } = await verified(linesOf({ ...header, checkpoint: forged }, ...swapped, end));
  expect(new Set(codesOf(found))).toEqual(new Set(['unknown_log_key']));
});
