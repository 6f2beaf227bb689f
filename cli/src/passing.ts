import { reportOf } from './failure.ts';

/** Of an answer that never came, or that the next try may better. */
const PASSING: ReadonlySet<string> = new Set([
  'connection_failed',
  'timed_out',
  'stream_cut',
  'rate_limited',
  'internal_error',
  'store_unavailable',
]);

/** For what is asked again and again: nothing for a failure that passes. @throws any other */
export async function ifPassing(error: unknown): Promise<undefined> {
  if (!PASSING.has((await reportOf(error)).code)) throw error;
}
