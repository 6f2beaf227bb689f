import type { Transferable, Worker } from 'node:worker_threads';

/** Answers questions on a worker thread, off the event loop. */
export interface QuestionThread<Question, Answer> {
  /**
   * @param transferred what is handed over instead of copied: such a question is not asked again when the thread has to be replaced
   * @returns undefined when the answer took too long, or the thread failed
   */
  ask(question: Question, transferred?: readonly Transferable[]): Promise<Answer | undefined>;
  readonly waiting: number;
  close(): Promise<void>;
}

/** Told by the worker before it begins a question, with all that it needs loaded, and when it has answered. */
export type Progress<Answer> = { readonly id: number; readonly begun: true } | { readonly id: number; readonly answer: Answer };

export interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

interface QuestionThreadOptions {
  readonly startWorker: () => Worker;
  /** A question that is worked on for longer is hostile: it is given up, and the worker with it. */
  readonly limitMs: number;
  /** A caller waits no longer, also if the worker is busy. */
  readonly patienceMs: number;
  /** The worker is ended when nothing was asked for so long, and with it the memory of what it has loaded; never, where it is left out. */
  readonly idleMs?: number;
}

interface Waiting<Question, Answer> extends Asked<Question> {
  readonly transferred: readonly Transferable[];
  readonly resolve: (answer: Answer | undefined) => void;
}

/**
 * One worker thread, started by the first question. What it loads takes a quarter of a second, and some seconds on a busy machine: that is never
 * a reason to begin again, so the limit counts from when a question is begun.
 */
export function createQuestionThread<Question, Answer>(options: QuestionThreadOptions): QuestionThread<Question, Answer> {
  let worker: Worker | undefined;
  let working: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  let nextId = 0;
  const waiting = new Map<number, Waiting<Question, Answer>>();

  const answer = (id: number, given: Answer | undefined) => {
    waiting.get(id)?.resolve(given);
    waiting.delete(id);
    clearTimeout(idle);
    if (options.idleMs !== undefined && waiting.size === 0) idle = setTimeout(stop, options.idleMs).unref();
  };
  const stop = () => {
    clearTimeout(working);
    void worker?.terminate();
    worker = undefined;
  };
  const giveUp = () => {
    stop();
    for (const id of [...waiting.keys()]) answer(id, undefined);
    clearTimeout(idle);
  };
  const start = (): Worker => {
    const started = options.startWorker();
    started.unref();
    started.on('message', (progress: Progress<Answer>) => {
      // A last word of one that was stopped.
      if (started !== worker) return;
      clearTimeout(working);
      if ('begun' in progress) working = setTimeout(restartWithout, options.limitMs, progress.id).unref();
      else answer(progress.id, progress.answer);
    });
    started.on('error', () => started === worker && giveUp());
    return started;
  };
  const post = ({ id, question, transferred }: Waiting<Question, Answer>) => {
    worker ??= start();
    worker.postMessage({ id, question } satisfies Asked<Question>, transferred);
  };
  const restartWithout = (hostile: number) => {
    stop();
    answer(hostile, undefined);
    for (const asked of waiting.values()) {
      if (asked.transferred.length === 0) post(asked);
      else answer(asked.id, undefined);
    }
  };

  return {
    get waiting() {
      return waiting.size;
    },
    ask(question, transferred = []) {
      nextId += 1;
      const id = nextId;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const patience = setTimeout(answer, options.patienceMs, id, undefined);
      const asked = {
        id,
        question,
        transferred,
        resolve: (given: Answer | undefined) => {
          clearTimeout(patience);
          resolve(given);
        },
      };
      waiting.set(id, asked);
      clearTimeout(idle);
      post(asked);
      return promise;
    },
    close: async () => {
      const stopped = worker?.terminate();
      giveUp();
      await stopped;
    },
  };
}
