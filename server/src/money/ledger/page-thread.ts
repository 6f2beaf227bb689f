import { Worker } from 'node:worker_threads';
import type { JournalEntry } from '../../adapters/lanes/port.ts';
import type { LedgerBatch, LedgerReceipts } from './ledger-batch.ts';
import type { WrittenFacts } from './receipt-facts.ts';

/** Works out ledger pages on a thread of its own: parsing and hashing would cost the one that answers requests a fifth of its time. */
export interface PageThread extends LedgerPages {
  close(): Promise<void>;
}

/** What a batch comes to, worked out as the functions of these names do. */
export interface LedgerPages {
  /**
   * A thread that ends by itself takes with it what was asked of it, and the next call starts another.
   * @throws what {@link ledgerBatchOf} throws, with its own type; Error when the thread has ended
   */
  ledgerBatchOf(entries: readonly JournalEntry[]): Promise<LedgerBatch>;
  /** @throws as above */
  receiptsOf(entries: readonly JournalEntry[], written: readonly WrittenFacts[]): Promise<LedgerReceipts>;
}

export interface PageWorkerData {
  readonly sealKey: Uint8Array;
}

export interface PageRequest {
  readonly id: number;
  readonly entries: readonly JournalEntry[];
  /** Where receipts are asked for, and not the batch. */
  readonly written?: readonly WrittenFacts[];
}

export type PageAnswer = { readonly id: number } & ({ readonly pages: LedgerBatch | LedgerReceipts } | { readonly error: unknown });

const YOUNG_GENERATION_MB = 16;

export function startPageThread(sealKey: Buffer): PageThread {
  const waiting = new Map<number, PromiseWithResolvers<LedgerBatch | LedgerReceipts>>();
  let nextId = 0;
  let worker: Worker | undefined;
  let isClosed = false;

  const lose = (cause: unknown) => {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error('The thread that works out ledger pages has ended', { cause }));
    waiting.clear();
  };
  const start = (): Worker => {
    const workerData: PageWorkerData = { sealKey };
    // A batch is a few megabytes, and gone when it is answered. The process’s own young generation is made for requests under way.
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    const started = new Worker(new URL('./page-worker.ts', import.meta.url), { workerData, resourceLimits });
    // What it works at is in the journal, and is done again by the next process: nothing that it has to be waited for.
    started.unref();
    started.on('message', (answer: PageAnswer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ('pages' in answer) asked?.resolve(answer.pages);
      else asked?.reject(answer.error);
    });
    started.once('error', lose);
    // After an error, another one may have been started by now.
    started.once('exit', (code) => {
      if (worker === started) lose(new Error(`It exited with ${code}`));
    });
    return started;
  };
  // Now, so that the first settlement does not wait for it.
  worker = start();

  const ask = (request: Omit<PageRequest, 'id'>): Promise<LedgerBatch | LedgerReceipts> => {
    if (isClosed) return Promise.reject(new Error('The thread that works out ledger pages is closed'));
    worker ??= start();
    nextId += 1;
    const asked = Promise.withResolvers<LedgerBatch | LedgerReceipts>();
    waiting.set(nextId, asked);
    worker.postMessage({ id: nextId, ...request } satisfies PageRequest);
    return asked.promise;
  };
  return {
    ledgerBatchOf: async (entries) => (await ask({ entries })) as LedgerBatch,
    receiptsOf: async (entries, written) => (await ask({ entries, written })) as LedgerReceipts,
    async close() {
      isClosed = true;
      await worker?.terminate();
    },
  };
}
