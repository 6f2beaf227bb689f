import { Problem } from './problem.ts';
import { isStoreFailure } from './store-failure.ts';

/** Any thrown value, as a problem. A store that cannot be asked is one of the declared ones; a bug becomes `internal_error`. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return isStoreFailure(thrown)
    ? new Problem('store_unavailable', 'The store is busy or cannot be reached: repeat the request in a few seconds.', {
        retryAfterSeconds: 2,
        cause: thrown,
      })
    : new Problem('internal_error', 'Something went wrong on our side: repeat the request, and report its id if it happens again.', {
        cause: thrown,
      });
}
