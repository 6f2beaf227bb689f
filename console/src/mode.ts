import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { tallygate } from './client.ts';
import type { Mode } from './searches.ts';

/** What the person chose last, for addresses that name no mode. */
const CHOSEN = 'tallygate.console.mode';
/** What fits the keys of the account: kept, so that the next visit does not ask for live requests first, and then for those of test mode. */
const SUGGESTED = 'tallygate.console.suggested-mode';

const modeIn = (place: string): Mode | undefined => {
  const kept = localStorage.getItem(place);
  return kept === 'live' || kept === 'test' ? kept : undefined;
};

export const modeOf = (isLive: boolean): Mode => (isLive ? 'live' : 'test');

/** Whether live or test requests are shown, as the address says. */
export function useLivemode(): boolean {
  const { mode } = useSearch({ from: '/frame' });
  return (mode ?? modeIn(CHOSEN) ?? modeIn(SUGGESTED) ?? 'live') === 'live';
}

/** Shows the other mode; remembered in this browser. */
export function useSetLivemode(): (isLive: boolean) => void {
  const show = useShowMode();
  return (isLive) => {
    localStorage.setItem(CHOSEN, modeOf(isLive));
    show(modeOf(isLive));
  };
}

function useShowMode(): (mode: Mode, replace?: boolean) => void {
  const navigate = useNavigate();
  return (mode, replace = false) => void navigate({ to: '.', search: (search: object) => ({ ...search, mode }), hash: true, replace });
}

/** Puts the mode into an address that names none, so that whoever is given it sees the same: an account without a live key has test requests alone. */
export function useModeInAddress(): void {
  const { mode } = useSearch({ from: '/frame' });
  const show = useShowMode();
  const chosen = modeIn(CHOSEN);
  const isAsked = mode === undefined && chosen === undefined;
  const { data: keys } = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list(), enabled: isAsked });
  const suggested = keys && modeOf(keys.some(({ livemode }) => livemode));
  useEffect(() => {
    if (mode !== undefined) return;
    if (suggested !== undefined) localStorage.setItem(SUGGESTED, suggested);
    const wanted = chosen ?? suggested;
    if (wanted !== undefined) show(wanted, true);
  });
}
