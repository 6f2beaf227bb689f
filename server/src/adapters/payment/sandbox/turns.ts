import type { Clock } from '../../../kernel/clock.ts';
import type { Turn } from './billing.ts';
import type { createSandboxStore } from './store.ts';

/** How the methods of the sandbox reach its store. */
export interface Turns {
  /** Changes nothing that a webhook tells of. */
  look<T>(work: (turn: Turn) => Promise<T>): Promise<T>;
  /** The webhooks of what it has changed are told after it. */
  turn<T>(work: (turn: Turn) => Promise<T>): Promise<T>;
  /** A command, once per key. The name is part of what is compared: two commands may look alike. */
  command<C extends { readonly idempotencyKey: string }, T>(
    name: string,
    work: (turn: Turn, command: C) => Promise<T>,
  ): (given: C) => Promise<T>;
}

interface TurnsDeps {
  readonly store: ReturnType<typeof createSandboxStore>;
  readonly clock: Clock;
  readonly pagesUrl: () => string;
  /** Called when something has changed. */
  readonly tell: () => void;
}

export function turnsOf({ store, clock, pagesUrl, tell }: TurnsDeps): Turns {
  const look: Turns['look'] = (work) =>
    store.transact((books) => work({ books, now: Math.floor(clock.now() / 1000), pagesUrl: pagesUrl() }));
  const turn: Turns['turn'] = async (work) => {
    const result = await look(work);
    tell();
    return result;
  };
  return {
    look,
    turn,
    // What is kept of a command is what it was answered with.
    command: <C extends { readonly idempotencyKey: string }, T>(name: string, work: (turn: Turn, command: C) => Promise<T>) =>
      ((given: C) => turn((now) => now.books.once(given.idempotencyKey, { name, ...given }, () => work(now, given)))) as (
        given: C,
      ) => Promise<T>,
  };
}
