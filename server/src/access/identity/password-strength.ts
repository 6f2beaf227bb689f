import { Worker } from 'node:worker_threads';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { createQuestionThread } from '../../kernel/question-thread.ts';

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

/** What the worker judges. */
export interface ChosenPassword {
  readonly password: string;
  readonly about: readonly string[];
}

interface PasswordStrengthOptions {
  /** What the service is reached as, which a guesser tries too. */
  readonly hostName?: () => string;
}

const LIMIT_MS = 5_000;
/** The lists of known passwords take a second to load, and many on a machine that is busy. */
const PATIENCE_MS = 60_000;
const MAX_WAITING = 64;
/** New passwords are rare: the lists, 40 MB, are not kept for the next. */
const IDLE_MS = 30_000;

/** One worker thread for all that ask in this process, started on first use. What takes too long is given up, and its worker with it. */
const thread = createQuestionThread<ChosenPassword, Weakness | null>({
  startWorker: () => new Worker(new URL('./password-strength-worker.ts', import.meta.url)),
  limitMs: LIMIT_MS,
  patienceMs: PATIENCE_MS,
  idleMs: IDLE_MS,
});

export function createPasswordStrength({ hostName = () => 'localhost' }: PasswordStrengthOptions = {}): PasswordStrength {
  return {
    async require(password, about, field) {
      const words = [...about, 'tallygate', hostName()].flatMap((word) => (word ? [word] : []));
      const weakness = thread.waiting < MAX_WAITING ? await thread.ask({ password, about: words }) : undefined;
      if (weakness === undefined)
        throw new Problem('rate_limited', 'Too many people are choosing a password: repeat in a second.', { retryAfterSeconds: 1 });
      if (weakness) throw invalidInput([{ loc: ['body', field], msg: WORDS[weakness], type: 'weak_password' }]);
    },
  };
}

const WORDS: Record<Weakness, string> = {
  known: 'is a known password, or close to one: choose several words that do not belong together, or let a password manager choose',
  'about-you':
    'is easy to guess from your name, your e-mail address or the name of the service: choose several words that do not belong together',
  guessable: 'is easy to guess: choose several words that do not belong together, or let a password manager choose',
};
