import { useSyncExternalStore } from 'react';

const PLACE = 'tallygate.console.mode';
const listeners = new Set<() => void>();

/** Whether live or test requests are shown; remembered in this browser. A new gateway has test requests first. */
export function useLivemode(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => localStorage.getItem(PLACE) !== 'test',
  );
}

export function setLivemode(isLive: boolean): void {
  localStorage.setItem(PLACE, isLive ? 'live' : 'test');
  for (const listener of listeners) listener();
}
