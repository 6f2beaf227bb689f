import { parentPort } from 'node:worker_threads';
import { ledgerBatchOf } from './ledger-batch.ts';
import type { PageAnswer, PageRequest } from './page-thread.ts';

parentPort?.on('message', ({ id, entries }: PageRequest) => {
  let answer: PageAnswer;
  try {
    answer = { id, pages: ledgerBatchOf(entries) };
  } catch (error) {
    answer = { id, error };
  }
  parentPort?.postMessage(answer);
});
