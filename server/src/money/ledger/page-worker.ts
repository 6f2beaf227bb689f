import { parentPort, workerData } from 'node:worker_threads';
import { ledgerBatchOf } from './ledger-batch.ts';
import type { PageAnswer, PageRequest, PageWorkerData } from './page-thread.ts';

const sealKey = Buffer.from((workerData as PageWorkerData).sealKey);

parentPort?.on('message', ({ id, entries }: PageRequest) => {
  let answer: PageAnswer;
  try {
    answer = { id, pages: ledgerBatchOf(entries, sealKey) };
  } catch (error) {
    answer = { id, error };
  }
  parentPort?.postMessage(answer);
});
