import { Problem } from '../../kernel/problem.ts';

/** Of a request that is kept with its answer, bytes: it is one row of the database, and is read whole. */
export const MOST_KEPT_BYTES = 10 * 1024 * 1024;

/** @param bytes of the request's body @throws Problem `payload_too_large` */
export function requireKeepable(bytes: number): void {
  if (bytes > MOST_KEPT_BYTES)
    throw new Problem(
      'payload_too_large',
      `The request has ${bytes} bytes, and one that is stored has ${MOST_KEPT_BYTES} at most: send \`store: false\`, or its files as stored files by their ids.`,
    );
}
