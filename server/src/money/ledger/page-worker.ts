import { parentPort, workerData } from 'node:worker_threads';
import { ledgerBatchOf, receiptsOf } from './ledger-batch.ts';
import type { PageAnswer, PageRequest, PageWorkerData } from './page-thread.ts';

const sealKey = Buffer.from((workerData as PageWorkerData).sealKey);

parentPort?.on('message', ({ id, entries, numbers }: PageRequest) => {
  let answer: PageAnswer;
  try {
    answer = { id, pages: numbers ? receiptsOf(entries, numbers, sealKey) : ledgerBatchOf(entries) };
  } catch (error) {
    answer = { id, error };
  }
  parentPort?.postMessage(answer);
});
