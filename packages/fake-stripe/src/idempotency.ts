import { StripeFault } from './fault.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Stripe forgets a key once it is a day old. */
const KEPT_SECONDS = 86_400;

interface Kept {
  readonly since: number;
  readonly fingerprint: string;
  /** Undefined while the first request is still running. */
  answer: Answer | undefined;
}

/** The first answer of every `Idempotency-Key`. */
export class IdempotencyKeys {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  /** @param now in epoch seconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns the answer to repeat, or what to hand the answer to */
  begin(key: string, fingerprint: string): Answer | ((answer: Answer) => void) {
    const kept = this.#kept.get(key);
    if (!kept || kept.since + KEPT_SECONDS <= this.#now()) {
      const fresh: Kept = { since: this.#now(), fingerprint, answer: undefined };
      this.#kept.set(key, fresh);
      return (answer) => {
        // Stripe keeps no answer of a request that did not begin to run: it may be sent again.
        if (answer.status === 401 || answer.status === 429) this.#kept.delete(key);
        else fresh.answer = answer;
      };
    }
    if (kept.fingerprint !== fingerprint) {
      throw new StripeFault(
        400,
        'idempotency_error',
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      );
    }
    if (kept.answer) return kept.answer;
    throw new StripeFault(
      409,
      'idempotency_error',
      `There is currently another in-progress request using this Idempotent Key (${key}). Please try again later.`,
      { code: 'idempotency_key_in_use' },
    );
  }
}
