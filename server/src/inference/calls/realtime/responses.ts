import type { RunningResponse } from './running-response.ts';

interface Asked {
  readonly response: RunningResponse;
  /** The provider has begun it, or does not. */
  readonly onAnswered: () => void;
}

/** The responses of a session that are held: those that the provider was asked for, and those that it has begun. */
export class SessionResponses {
  /** By the event that asked; one at a time, so that what the provider begins next is what was asked for. */
  readonly #asked = new Map<string, Asked>();
  /** By the provider's id. Undefined: it was begun unasked, and could not be held. */
  readonly #begun = new Map<string, RunningResponse | undefined>();

  get size(): number {
    return this.#asked.size + this.#begun.size;
  }

  /** What is held, begun or not. */
  get held(): RunningResponse[] {
    const asked = [...this.#asked.values()].map(({ response }) => response);
    return [...asked, ...[...this.#begun.values()].filter((one) => one !== undefined)];
  }

  /** The most tokens that the conversation may grow by with what is at work. */
  get writing(): number {
    return this.held.reduce((sum, one) => sum + (one.isOutOfBand ? 0 : one.maxOutputTokens), 0);
  }

  ask(eventId: string, asked: Asked): void {
    this.#asked.set(eventId, asked);
  }

  /** The provider has refused to begin it. */
  refused(eventId: string): RunningResponse | undefined {
    const asked = this.#asked.get(eventId);
    this.#asked.delete(eventId);
    asked?.onAnswered();
    return asked?.response;
  }

  /** Undefined: none was asked for. */
  begin(id: string): RunningResponse | undefined {
    const [first] = this.#asked;
    if (!first) return undefined;
    const response = this.refused(first[0]);
    this.#begun.set(id, response);
    return response;
  }

  beginUnasked(id: string, response: RunningResponse | undefined): void {
    this.#begun.set(id, response);
  }

  end(id: string): RunningResponse | undefined {
    const response = this.#begun.get(id);
    this.#begun.delete(id);
    return response;
  }

  idOf(response: RunningResponse): string | undefined {
    return [...this.#begun].find(([, one]) => one === response)?.[0];
  }

  /** All of them, which are forgotten here. */
  takeAll(): RunningResponse[] {
    const all = this.held;
    for (const eventId of [...this.#asked.keys()]) this.refused(eventId);
    this.#begun.clear();
    return all;
  }
}
