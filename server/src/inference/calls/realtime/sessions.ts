import { Problem } from '../../../kernel/problem.ts';

const RETRY_SECONDS = 5;

type OpenSession = { end(ending: typeof STOPS): void };

/** The connections of this process: bounded by key, and ended when the gateway stops. */
export class RealtimeSessions {
  readonly #mostPerKey: number;
  readonly #open = new Set<OpenSession>();
  readonly #byKey = new Map<string, number>();
  #isDraining = false;

  constructor(mostPerKey: number) {
    this.#mostPerKey = mostPerKey;
  }

  /** @returns leaves the room again @throws Problem `realtime_sessions_full` */
  enter(keyId: string): () => void {
    const count = this.#byKey.get(keyId) ?? 0;
    if (count >= this.#mostPerKey)
      throw new Problem('realtime_sessions_full', `This API key has ${count} realtime sessions open on this gateway: close some of them.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    this.#byKey.set(keyId, count + 1);
    return () => {
      const left = (this.#byKey.get(keyId) ?? 1) - 1;
      if (left > 0) this.#byKey.set(keyId, left);
      else this.#byKey.delete(keyId);
    };
  }

  add(session: OpenSession): void {
    this.#open.add(session);
    if (this.#isDraining) session.end(STOPS);
  }

  delete(session: OpenSession): void {
    this.#open.delete(session);
  }

  /** Each ends once what it is at work for is settled; what takes too long is cut with all other calls. */
  drain(): void {
    this.#isDraining = true;
    for (const session of this.#open) session.end(STOPS);
  }
}

const STOPS = { code: 1001, reason: 'the gateway stops: connect again' } as const;
