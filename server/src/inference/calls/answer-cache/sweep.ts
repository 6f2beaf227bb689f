import type { Timer } from '../../../adapters/timers/port.ts';
import type { CachedAnswers } from './cached-answers.ts';

const MINUTE_MS = 60_000;

/** Deletes answers when their time is over, also where the cache is switched off by now. */
export const sweepCachedAnswers = (answers: Pick<CachedAnswers, 'sweep'>): Timer => ({
  name: 'cached-answers-sweep',
  everyMs: MINUTE_MS,
  run: async ({ signal }) => {
    for (let more = 1; more > 0 && !signal.aborted; ) more = await answers.sweep();
  },
});
