import { Worker } from 'node:worker_threads';
import { createQuestionThread } from '../../kernel/question-thread.ts';

export type Encoding = 'o200k_base' | 'cl100k_base';

/** Counts tokens off the event loop. */
export interface Tokenizer {
  /** Tokens of the text, or undefined when counting takes longer than it may. */
  count(encoding: Encoding, text: string): Promise<number | undefined>;
  close(): Promise<void>;
}

/** What the worker counts. */
export interface CountedText {
  readonly encoding: Encoding;
  readonly text: string;
}

interface TokenizerOptions {
  readonly limitMs?: number;
  readonly startWorker?: () => Worker;
}

/** A caller waits no longer, and a text that is counted for longer is given up, and the worker with it: it is hostile. */
const LIMIT_MS = 2_000;
const LONGEST_TEXT = 4_000_000;

const startTokenizerWorker = () => new Worker(new URL('./tokenizer-worker.ts', import.meta.url));

/** One worker thread, started on first use. While it loads a vocabulary (90 MB), callers do without a count. */
export function createTokenizer({ limitMs = LIMIT_MS, startWorker = startTokenizerWorker }: TokenizerOptions = {}): Tokenizer {
  const thread = createQuestionThread<CountedText, number>({ startWorker, limitMs, patienceMs: limitMs });
  return {
    count: (encoding, text) => (text.length > LONGEST_TEXT ? Promise.resolve(undefined) : thread.ask({ encoding, text })),
    close: () => thread.close(),
  };
}
