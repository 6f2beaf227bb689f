import { parentPort, workerData } from 'node:worker_threads';
import { signingKeyFromSeed } from '../../receipts/index.ts';
import { ledgerBatchOf } from './ledger-batch.ts';
import type { PageAnswer, PageRequest, PageWorkerData } from './page-thread.ts';

const { signingSeed } = workerData as PageWorkerData;
const signingKey = signingKeyFromSeed(Buffer.from(signingSeed));

parentPort?.on('message', ({ id, entries }: PageRequest) => {
  let answer: PageAnswer;
  try {
    answer = { id, pages: ledgerBatchOf(entries, signingKey) };
  } catch (error) {
    answer = { id, error };
  }
  parentPort?.postMessage(answer);
});
