import { expect, it } from 'vitest';
import { checkpointNote, entryAt, leavesAround, rootOf } from '../../packages/receipts/scripts/vector-log.ts';
import { current, issue, keySet, payloadWith } from '../../packages/receipts/scripts/vector-receipts.ts';
import { startStubGateway } from '../testing/stub-gateway.ts';
import { LogForkError, memoryLogStore, Tallygate } from './index.ts';

const PAYLOAD = payloadWith();
const honest = leavesAround(PAYLOAD, 5, 30);
const forked = honest.with(2, honest[3] ?? new Uint8Array());
const receiptIn = (leaves: readonly Uint8Array[]) => issue(PAYLOAD, current, entryAt(leaves, 5));
const noteOf = (leaves: readonly Uint8Array[]) => checkpointNote({ size: leaves.length, root: rootOf(leaves) });
const tileOf = (leaves: readonly Uint8Array[]) => ({ pieces: [...leaves], end: true }) as const;

it('compares the state of the log in every receipt with those that were seen before', async () => {
  await using gateway = await startStubGateway();
  const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  expect(await receipts.verify(receiptIn(honest.slice(0, 13)), keySet)).toMatchObject({ valid: true, history: 'first' });
  gateway.script({ text: noteOf(honest) }, tileOf(honest.slice(0, 20)));
  expect(await receipts.verify(receiptIn(honest.slice(0, 20)), keySet)).toMatchObject({ valid: true, history: 'proven' });
  expect(await receipts.verify(receiptIn(honest.slice(0, 13)), keySet)).toMatchObject({ valid: true, history: 'known' });
});

it('throws a typed error where the log has shown two pasts, and names the evidence', async () => {
  await using gateway = await startStubGateway();
  const logStore = memoryLogStore();
  const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl, logStore });
  await receipts.verify(receiptIn(honest.slice(0, 13)), keySet);
  gateway.script({ text: noteOf(forked) }, tileOf(forked.slice(0, 20)));
  const error = await receipts.verify(receiptIn(forked.slice(0, 20)), keySet).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(LogForkError);
  expect(error).toMatchObject({ code: 'log_forked', kept: noteOf(honest.slice(0, 13)), met: noteOf(forked.slice(0, 20)) });
  expect(logStore.evidence.get(error instanceof LogForkError ? error.evidence : '')).toContain('log_forked');
  // Of one size there is one root, in an export and at the log's own address too: no request is needed.
  await expect(receipts.verifyCheckpoint(noteOf(forked.slice(0, 13)), keySet)).rejects.toThrow(LogForkError);
  const header = { object: 'receipt_export', version: 'tallygate-export/v1', month: '2026-11', livemode: true };
  const file = `${JSON.stringify({ ...header, checkpoint: noteOf(forked.slice(0, 13)) })}\n`;
  await expect(receipts.verifyExport(file, keySet).next()).rejects.toThrow(LogForkError);
});

it('stores a state that could not be compared, and reports it', async () => {
  await using gateway = await startStubGateway();
  const { receipts } = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  await receipts.verify(receiptIn(honest.slice(0, 13)), keySet);
  gateway.script({ reset: true });
  const found = await receipts.verify(receiptIn(forked.slice(0, 20)), keySet, { maxRetries: 0 });
  expect(found).toMatchObject({ valid: true, history: 'unproven' });
  gateway.script({ text: noteOf(honest) }, tileOf(honest));
  await expect(receipts.verify(receiptIn(honest), keySet)).rejects.toThrow(LogForkError);
});
