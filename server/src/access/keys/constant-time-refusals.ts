import { Problem } from '../../kernel/problem.ts';
import type { KeyDirectory } from './key-directory.ts';

/** Well above what reading a key takes, and nothing to somebody who has to find the right key first. */
const REFUSAL_MS = 50;

type Authenticates = Pick<KeyDirectory, 'authenticate'>;

/**
 * Every key that is refused is refused the same time after it was shown. A key in memory would be refused faster than one that has to
 * be read, and a missing one is read in fewer queries: both would tell whether a lookup id exists. Good keys wait for nothing.
 */
export function withConstantTimeRefusals(keys: Authenticates, refusalMs = REFUSAL_MS): Authenticates {
  return {
    authenticate(plainKey) {
      try {
        const grant = keys.authenticate(plainKey);
        return grant instanceof Promise ? orRefusedInTime(grant, refusalMs) : grant;
      } catch (refusal) {
        return orRefusedInTime(Promise.reject(refusal), refusalMs);
      }
    },
  };
}

/** The timer starts before the answer is known: timers count whole milliseconds, so the rest of a pause would tell when it began. */
async function orRefusedInTime<Grant>(grant: Promise<Grant>, refusalMs: number): Promise<Grant> {
  const { promise: isDue, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, refusalMs);
  try {
    return await grant;
  } catch (failure) {
    if (failure instanceof Problem && failure.code === 'invalid_credentials') await isDue;
    throw failure;
  } finally {
    clearTimeout(timer);
  }
}
