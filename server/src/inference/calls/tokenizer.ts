import { Worker } from 'node:worker_threads';

export type Encoding = 'o200k_base' | 'cl100k_base';

/** Counts tokens off the event loop. */
export interface Tokenizer {
  /** Tokens of the text, or undefined when counting takes longer than it may. */
  count(encoding: Encoding, text: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export interface Question {
  readonly id: number;
  readonly encoding: Encoding;
  readonly text: string;
}

/** Told before a text is counted, with its vocabulary loaded, and when it is. */
export interface Progress {
  readonly id: number;
  /** Undefined: it has begun. */
  readonly tokens: number | undefined;
}

interface TokenizerOptions {
  readonly limitMs?: number;
  readonly startWorker?: () => Worker;
}

/** A caller waits no longer, and a text that is counted for longer is given up, and the worker with it: it is hostile. */
const LIMIT_MS = 2_000;
const LONGEST_TEXT = 4_000_000;

const startTokenizerWorker = () => new Worker(new URL('./tokenizer-worker.ts', import.meta.url));

/**
 * One worker thread, started on first use: a vocabulary takes a quarter of a second and 90 MB to load, on a busy machine some seconds. That is
 * never a reason to begin again: callers do without a count meanwhile.
 */
export function createTokenizer({ limitMs = LIMIT_MS, startWorker = startTokenizerWorker }: TokenizerOptions = {}): Tokenizer {
  let worker: Worker | undefined;
  let counting: NodeJS.Timeout | undefined;
  let nextId = 0;
  const waiting = new Map<number, Question & { readonly resolve: (tokens: number | undefined) => void }>();

  const answer = (id: number, tokens: number | undefined) => {
    waiting.get(id)?.resolve(tokens);
    waiting.delete(id);
  };
  const stop = () => {
    clearTimeout(counting);
    void worker?.terminate();
    worker = undefined;
  };
  const giveUp = () => {
    stop();
    for (const id of [...waiting.keys()]) answer(id, undefined);
  };
  const start = (): Worker => {
    const started = startWorker();
    started.unref();
    started.on('message', ({ id, tokens }: Progress) => {
      // A last word of one that was stopped.
      if (started !== worker) return;
      clearTimeout(counting);
      if (tokens === undefined) counting = setTimeout(restartWithout, limitMs, id).unref();
      else answer(id, tokens);
    });
    started.on('error', () => started === worker && giveUp());
    return started;
  };
  const ask = ({ id, encoding, text }: Question) => {
    worker ??= start();
    worker.postMessage({ id, encoding, text } satisfies Question);
  };
  const restartWithout = (id: number) => {
    stop();
    answer(id, undefined);
    for (const question of waiting.values()) ask(question);
  };

  return {
    count(encoding, text) {
      if (text.length > LONGEST_TEXT) return Promise.resolve(undefined);
      nextId += 1;
      const question = { id: nextId, encoding, text };
      const { promise, resolve } = Promise.withResolvers<number | undefined>();
      const patience = setTimeout(answer, limitMs, question.id, undefined);
      waiting.set(question.id, {
        ...question,
        resolve: (tokens) => {
          clearTimeout(patience);
          resolve(tokens);
        },
      });
      ask(question);
      return promise;
    },
    close: async () => {
      const stopped = worker?.terminate();
      giveUp();
      await stopped;
    },
  };
}
