import { steadyMs } from './clock.ts';

/** Says yes when it is asked for the first time, and then again when so much time is over since it last did. */
export function atMostEvery(ms: number, now: () => number = steadyMs): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const isDue = now() - lastAt >= ms;
    if (isDue) lastAt = now();
    return isDue;
  };
}
