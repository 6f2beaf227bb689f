import { Worker } from 'node:worker_threads';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';

/** Why a password is refused. */
export type Weakness = 'known' | 'about-you' | 'guessable';

/** Judges new passwords off the event loop and without the network. */
export interface PasswordStrength {
  /**
   * @param about words that a guesser tries first: name and e-mail address
   * @throws Problem `validation_failed` for a password that is easy to guess, at `field` of the body; `rate_limited` when too many wait
   */
  require(password: string, about: readonly (string | null | undefined)[], field: string): Promise<void>;
}

interface Answer {
  readonly id: number;
  readonly weakness: Weakness | null;
}

interface PasswordStrengthOptions {
  /** What the service is reached as, which a guesser tries too. */
  readonly hostName?: () => string;
}

const TIME_LIMIT_MS = 5_000;
const MAX_WAITING = 64;
/** New passwords are rare: the lists of known ones, 40 MB, are not kept for the next. */
const IDLE_MS = 30_000;

/** One worker thread, started on first use. What takes too long is given up, and its worker with it. */
export function createPasswordStrength({ hostName = () => 'localhost' }: PasswordStrengthOptions = {}): PasswordStrength {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let nextId = 0;
  const waiting = new Map<number, (answer: Answer | undefined) => void>();

  const stop = () => {
    void worker?.terminate();
    worker = undefined;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(new URL('./password-strength-worker.ts', import.meta.url));
    started.unref();
    started.on('message', (answer: Answer) => {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    });
    started.on('error', stop);
    return started;
  };
  const weaknessOf = (password: string, about: readonly string[]): Promise<Answer | undefined> => {
    if (waiting.size >= MAX_WAITING) return Promise.resolve(undefined);
    clearTimeout(idle);
    worker ??= start();
    nextId += 1;
    const id = nextId;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const timer = setTimeout(stop, TIME_LIMIT_MS);
    waiting.set(id, (answer) => {
      clearTimeout(timer);
      if (waiting.size <= 1) idle = setTimeout(stop, IDLE_MS).unref();
      resolve(answer);
    });
    worker.postMessage({ id, password, about });
    return promise;
  };

  return {
    async require(password, about, field) {
      const answer = await weaknessOf(
        password,
        [...about, 'tallygate', hostName()].flatMap((word) => (word ? [word] : [])),
      );
      if (!answer)
        throw new Problem('rate_limited', 'Too many people are choosing a password: repeat in a second.', { retryAfterSeconds: 1 });
      if (answer.weakness) throw invalidInput([{ loc: ['body', field], msg: WORDS[answer.weakness], type: 'weak_password' }]);
    },
  };
}

const WORDS: Record<Weakness, string> = {
  known: 'is a known password, or close to one: choose several words that do not belong together, or let a password manager choose',
  'about-you':
    'is easy to guess from your name, your e-mail address or the name of the service: choose several words that do not belong together',
  guessable: 'is easy to guess: choose several words that do not belong together, or let a password manager choose',
};
