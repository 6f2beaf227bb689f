import { setTimeout as pause } from 'node:timers/promises';

interface Repeating {
  readonly random?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const MOST_TRIES = 8;
const FIRST_PAUSE_MS = 5;

/**
 * Runs `work` again where PostgreSQL ended it for the sake of another transaction, with nothing done: a deadlock, or a failed serialization.
 * Both are expected under load. The pauses before a repeat grow, and differ by chance, so that the same two do not meet again.
 *
 * @throws other errors of `work`, and the collision where it comes back at every try
 */
export async function repeatCollisions<T>(
  work: () => Promise<T>,
  { random = Math.random, pause: wait = pause }: Repeating = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isCollision(error) || tries === MOST_TRIES) throw error;
      await wait(FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + random()));
    }
  }
}

/** `deadlock_detected` and `serialization_failure`, also as the ORM passes them on. */
export const isCollision = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
