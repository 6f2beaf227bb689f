import { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import type { JournalEntry } from '../../adapters/lanes/port.ts';
import type { CopiedRows } from '../../kernel/copy-rows.ts';
import { type LedgerBatch, type LedgerReceipts, ledgerBatchOf, receiptsOf } from './ledger-batch.ts';
import { type PageThread, startPageThread } from './page-thread.ts';
import { sampleEntry, sampleRecord } from './sample-records.ts';
import { TEST_SEAL_KEY } from './testing/pages.ts';

let thread: PageThread | undefined;

function open(): PageThread {
  thread = startPageThread(TEST_SEAL_KEY);
  return thread;
}

afterEach(async () => {
  await thread?.close();
  vi.restoreAllMocks();
});

/** What of the pages is the same at every working out: posting ids are not. */
function settledParts(
  { posted, usageRecords, usageDaily, ledgerDaily, agentRuns, refundIds }: LedgerBatch,
  { digests, seals, ...receipts }: LedgerReceipts,
) {
  return {
    ...{ posted, usageDaily, ledgerDaily, agentRuns, refundIds },
    usageRecords: fieldsOf(usageRecords).map(({ posting_id, ...row }) => row),
    receipts: fieldsOf(receipts),
    seals,
    digests: Buffer.from(digests).toString('hex'),
  };
}

const fieldsOf = ({ columns, lines }: CopiedRows): Record<string, string | undefined>[] =>
  lines.map((line) => {
    const fields = line.split('\t');
    return Object.fromEntries(columns.map((column, at) => [column, fields[at]]));
  });

const someEntries = (count: number): JournalEntry[] =>
  Array.from({ length: count }, () => sampleEntry(sampleRecord({ runId: 'nightly' }), { covered: { tokens: 7n } }));

test('comes to the same pages as the thread that asks would', async () => {
  const entries = someEntries(5);
  const written = [3, 4, 5, 1, 2].map((number) => ({ number, price: { index: 7, digest: 'c'.repeat(64) } }));
  const { ledgerBatchOf: ask, receiptsOf: askReceipts } = open();
  const here = settledParts(ledgerBatchOf(entries), receiptsOf(entries, written, TEST_SEAL_KEY));
  expect(settledParts(await ask(entries), await askReceipts(entries, written))).toEqual(here);
  expect(here.receipts.map(({ account_sequence: number }) => number)).toEqual(['3', '4', '5', '1', '2']);
});

test('answers every question with its own pages, however many are asked at once', async () => {
  const { ledgerBatchOf: ask } = open();
  const batches = Array.from({ length: 10 }, (_, size) => someEntries(size));
  const answers = await Promise.all(batches.map(ask));
  expect(answers.map(({ posted }) => posted.length)).toEqual(batches.map(({ length }) => length));
});

test.each([
  ['no JSON', '{', SyntaxError],
  ['nothing', 'null', TypeError],
  ['no money', JSON.stringify({ ...sampleRecord(), cost: 'dear' }), SyntaxError],
])('says of a record that is %s what the function says, and goes on', async (_, record, error) => {
  const { ledgerBatchOf: ask } = open();
  const bad = { ...sampleEntry(sampleRecord()), record };
  expect(() => ledgerBatchOf([bad])).toThrow(error);
  await expect(ask([bad])).rejects.toBeInstanceOf(error);
  expect((await ask(someEntries(1))).posted).toHaveLength(1);
});

test('is started again after its thread has died, and refuses what that one was asked', async () => {
  const { ledgerBatchOf: ask } = open();
  await ask(someEntries(1));
  const post = vi.spyOn(Worker.prototype, 'postMessage').mockImplementationOnce(function die(this: Worker) {
    void this.terminate();
  });
  await expect(ask(someEntries(1))).rejects.toThrow('has ended');
  post.mockRestore();
  expect((await ask(someEntries(1))).posted).toHaveLength(1);
});

test('once closed refuses what was asked and what is asked', async () => {
  const { ledgerBatchOf: ask, close } = open();
  const asked = ask(someEntries(1));
  const refused = expect(asked).rejects.toThrow('has ended');
  await close();
  await refused;
  await expect(ask([])).rejects.toThrow('is closed');
});
