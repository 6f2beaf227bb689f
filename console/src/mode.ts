import { useSyncExternalStore } from 'react';

const PLACE = 'tallygate.console.mode';
const listeners = new Set<() => void>();
/** Kept, so that the next visit does not ask for live requests first, and then for those of test mode. */
const SUGGESTED = 'tallygate.console.suggested-mode';
/** What is shown until somebody has chosen: an account without a live key has test requests alone. */
let suggested = localStorage.getItem(SUGGESTED) !== 'test';

const chosen = (): string | null => localStorage.getItem(PLACE);
const isLive = (): boolean => (chosen() === null ? suggested : chosen() !== 'test');

function tell(): void {
  for (const listener of listeners) listener();
}

/** Whether live or test requests are shown; remembered in this browser. */
export function useLivemode(): boolean {
  return useSyncExternalStore((onChange) => {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }, isLive);
}

export const isModeChosen = (): boolean => chosen() !== null;

export function setLivemode(isLive: boolean): void {
  localStorage.setItem(PLACE, isLive ? 'live' : 'test');
  tell();
}

export function suggestLivemode(isLive: boolean): void {
  suggested = isLive;
  localStorage.setItem(SUGGESTED, isLive ? 'live' : 'test');
  tell();
}
