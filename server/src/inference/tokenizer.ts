import { Worker } from 'node:worker_threads';

export type Encoding = 'o200k_base' | 'cl100k_base';

/** Counts tokens off the event loop. */
export interface Tokenizer {
  /** Tokens of the text, or undefined when counting takes longer than it may. */
  count(encoding: Encoding, text: string): Promise<number | undefined>;
  close(): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly tokens: number;
}

/** A count that takes longer is given up, and its worker with it: the input is hostile, or the machine overloaded. */
const TIME_LIMIT_MS = 2_000;
const LONGEST_TEXT = 4_000_000;

/** One worker thread, started on first use: the vocabulary takes a quarter of a second and 90 MB to load. */
export function createTokenizer(): Tokenizer {
  let worker: Worker | undefined;
  let nextId = 0;
  const waiting = new Map<number, (tokens: number | undefined) => void>();

  const giveUp = () => {
    void worker?.terminate();
    worker = undefined;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(new URL('./tokenizer-worker.ts', import.meta.url));
    started.unref();
    started.on('message', ({ id, tokens }: Answer) => {
      waiting.get(id)?.(tokens);
      waiting.delete(id);
    });
    started.on('error', giveUp);
    return started;
  };

  return {
    count(encoding, text) {
      if (text.length > LONGEST_TEXT) return Promise.resolve(undefined);
      worker ??= start();
      nextId += 1;
      const id = nextId;
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const timer = setTimeout(giveUp, TIME_LIMIT_MS);
      waiting.set(id, (tokens) => {
        clearTimeout(timer);
        resolve(tokens);
      });
      worker.postMessage({ id, encoding, text });
      return promise;
    },
    close: async () => {
      await worker?.terminate();
      giveUp();
    },
  };
}
