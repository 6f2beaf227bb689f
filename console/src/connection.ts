import { AuthenticationError, ConnectionError } from '@tallygate/sdk';
import { useSyncExternalStore } from 'react';

/** Whether the gateway answers, and whether it still knows who is signed in. */
type State = 'open' | 'lost' | 'signed out';

const listeners = new Set<() => void>();
let state: State = 'open';

function set(now: State): void {
  if (now === state) return;
  state = now;
  for (const listener of listeners) listener();
}

/** What every answer and every failure says of the way to the gateway and of the session. */
export const connection = {
  answered: (): void => set('open'),
  failed(error: unknown): void {
    if (error instanceof AuthenticationError) set('signed out');
    else set(error instanceof ConnectionError ? 'lost' : 'open');
  },
};

export const useConnection = (): State =>
  useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => state,
  );
