import { Worker } from 'node:worker_threads';
import { createQuestionThread } from '../../../kernel/question-thread.ts';
import type { RecordingLength } from './length.ts';

/** Reads how long recordings are, off the event loop. */
export interface Recordings {
  /** Undefined for what cannot be read as a recording, or not within the time that it may take. */
  lengthOf(open: () => AsyncIterable<Uint8Array>): Promise<RecordingLength | undefined>;
  close(): Promise<void>;
}

/** As large a file as a form may have is read in a tenth of this: what takes longer is made to. */
const LIMIT_MS = 5_000;
/** With the time that a worker takes to start on a busy machine. */
const PATIENCE_MS = 30_000;

/** One worker thread, started on first use; one recording is in memory at a time. */
export function createRecordings(): Recordings {
  const thread = createQuestionThread<Uint8Array, RecordingLength | undefined>({
    startWorker: () => new Worker(new URL('./recording-worker.ts', import.meta.url)),
    limitMs: LIMIT_MS,
    patienceMs: PATIENCE_MS,
  });
  let queue: Promise<unknown> = Promise.resolve();

  const measure = async (open: () => AsyncIterable<Uint8Array>): Promise<RecordingLength | undefined> => {
    const bytes = await wholeOf(open());
    return thread.ask(bytes, [bytes.buffer]);
  };

  return {
    lengthOf(open) {
      const turn = queue.then(() => measure(open));
      queue = turn.catch(() => {});
      return turn;
    },
    close: () => thread.close(),
  };
}

/** In a buffer of its own, which can be handed over. */
async function wholeOf(recording: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of recording) chunks.push(chunk);
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks.splice(0)) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
