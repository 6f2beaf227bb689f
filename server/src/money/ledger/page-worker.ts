import { parentPort, workerData } from 'node:worker_threads';
import { ledgerBatchOf, receiptsOf } from './ledger-batch.ts';
import type { PageAnswer, PageRequest, PageWorkerData } from './page-thread.ts';

const sealKey = Buffer.from((workerData as PageWorkerData).sealKey);

parentPort?.on('message', ({ id, entries, written }: PageRequest) => {
  let answer: PageAnswer;
  try {
    answer = { id, pages: written ? receiptsOf(entries, written, sealKey) : ledgerBatchOf(entries) };
  } catch (error) {
    answer = { id, error };
  }
  parentPort?.postMessage(answer);
});
