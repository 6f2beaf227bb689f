import { Worker } from 'node:worker_threads';
import type { RecordingLength } from './length.ts';

/** Reads how long recordings are, off the event loop. */
export interface Recordings {
  /** Undefined for what cannot be read as a recording, or not within the time that it may take. */
  lengthOf(open: () => AsyncIterable<Uint8Array>): Promise<RecordingLength | undefined>;
  close(): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly length: RecordingLength | undefined;
}

/** As large a file as a form may have is read in a tenth of this: what takes longer is made to. */
const TIME_LIMIT_MS = 5_000;

/** One worker thread, started on first use; one recording is in memory at a time. */
export function createRecordings(): Recordings {
  let worker: Worker | undefined;
  let nextId = 0;
  let queue: Promise<unknown> = Promise.resolve();
  let waiting: { readonly id: number; resolve(length: RecordingLength | undefined): void } | undefined;

  const giveUp = () => {
    void worker?.terminate();
    worker = undefined;
    waiting?.resolve(undefined);
  };
  const start = (): Worker => {
    const started = new Worker(new URL('./recording-worker.ts', import.meta.url));
    started.unref();
    started.on('message', ({ id, length }: Answer) => {
      if (waiting?.id === id) waiting.resolve(length);
    });
    started.on('error', giveUp);
    return started;
  };
  const measure = async (open: () => AsyncIterable<Uint8Array>): Promise<RecordingLength | undefined> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of open()) chunks.push(chunk);
    // A copy of its own, which is handed over and not copied again.
    const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const chunk of chunks.splice(0)) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    worker ??= start();
    nextId += 1;
    const { promise, resolve } = Promise.withResolvers<RecordingLength | undefined>();
    waiting = { id: nextId, resolve };
    const timer = setTimeout(giveUp, TIME_LIMIT_MS);
    worker.postMessage({ id: nextId, bytes }, [bytes.buffer]);
    const length = await promise;
    clearTimeout(timer);
    return length;
  };

  return {
    lengthOf(open) {
      const turn = queue.then(() => measure(open));
      queue = turn.catch(() => {});
      return turn;
    },
    async close() {
      await worker?.terminate();
      giveUp();
    },
  };
}
