import type { Transferable, Worker } from 'node:worker_threads';

/** Answers questions on a worker thread, off the event loop. */
export interface QuestionThread<Question, Answer> {
  /**
   * @param transferred is transferred instead of copied: such a question is not repeated when the thread is replaced
   * @returns undefined when the answer took too long, or the thread failed
   */
  ask(question: Question, transferred?: readonly Transferable[]): Promise<Answer | undefined>;
  readonly waiting: number;
  close(): Promise<void>;
}

/** Sent by the worker before it starts a question, with everything loaded, and when it has answered. */
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

export const createQuestionThread = <Question, Answer>(options: QuestionThreadOptions): QuestionThread<Question, Answer> =>
  new WorkerThread<Question, Answer>(options);

/**
 * One worker thread, started by the first question. What it loads takes a quarter of a second, and some seconds on a busy machine: that is never
 * a reason to begin again, so the limit counts from when a question is begun.
 */
class WorkerThread<Question, Answer> implements QuestionThread<Question, Answer> {
  readonly #options: QuestionThreadOptions;
  readonly #waiting = new Map<number, Waiting<Question, Answer>>();
  #worker: Worker | undefined;
  #working: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 0;

  constructor(options: QuestionThreadOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  ask(question: Question, transferred: readonly Transferable[] = []): Promise<Answer | undefined> {
    this.#nextId += 1;
    const id = this.#nextId;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const patience = setTimeout(() => this.#answer(id, undefined), this.#options.patienceMs);
    const asked = {
      id,
      question,
      transferred,
      resolve: (given: Answer | undefined) => {
        clearTimeout(patience);
        resolve(given);
      },
    };
    this.#waiting.set(id, asked);
    clearTimeout(this.#idle);
    this.#post(asked);
    return promise;
  }

  async close(): Promise<void> {
    const stopped = this.#worker?.terminate();
    this.#giveUp();
    await stopped;
  }

  #post({ id, question, transferred }: Waiting<Question, Answer>): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage({ id, question } satisfies Asked<Question>, transferred);
  }

  #start(): Worker {
    const { startWorker, limitMs } = this.#options;
    const started = startWorker();
    started.unref();
    started.on('message', (progress: Progress<Answer>) => {
      // A last word of one that was stopped.
      if (started !== this.#worker) return;
      clearTimeout(this.#working);
      if ('begun' in progress) this.#working = setTimeout(() => this.#restartWithout(progress.id), limitMs).unref();
      else this.#answer(progress.id, progress.answer);
    });
    started.on('error', () => started === this.#worker && this.#giveUp());
    return started;
  }

  #answer(id: number, given: Answer | undefined): void {
    this.#waiting.get(id)?.resolve(given);
    this.#waiting.delete(id);
    clearTimeout(this.#idle);
    const { idleMs } = this.#options;
    if (idleMs !== undefined && this.#waiting.size === 0) this.#idle = setTimeout(() => this.#stop(), idleMs).unref();
  }

  #restartWithout(hostile: number): void {
    this.#stop();
    this.#answer(hostile, undefined);
    for (const asked of this.#waiting.values()) {
      if (asked.transferred.length === 0) this.#post(asked);
      else this.#answer(asked.id, undefined);
    }
  }

  #giveUp(): void {
    this.#stop();
    for (const id of [...this.#waiting.keys()]) this.#answer(id, undefined);
    clearTimeout(this.#idle);
  }

  #stop(): void {
    clearTimeout(this.#working);
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}
