import { breather } from './turn.ts';

/** What is there at once, or, because it is large, a little later. */
export type Soon<T> = T | Promise<T>;

/** Continues synchronously where possible: a promise for each small piece of a stream would cost more than the piece does. */
export const andThen = <T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> =>
  value instanceof Promise ? value.then(use) : use(value);

/** So many small items are taken without a look at the time. */
const AT_ONCE = 1_000;

/** Takes the items one after the other: at once, as long as none has to be waited for and there are few. */
export function inOrder<T, R>(items: readonly T[], take: (item: T) => Soon<R>): Soon<R[]> {
  const taken: R[] = [];
  for (const [at, item] of items.entries()) {
    if (at === AT_ONCE) return restInOrder(items.slice(at), take, taken);
    const result = take(item);
    if (result instanceof Promise) return result.then((first) => restInOrder(items.slice(at + 1), take, [...taken, first]));
    taken.push(result);
  }
  return taken;
}

/** Other work has its turn between them. */
async function restInOrder<T, R>(items: readonly T[], take: (item: T) => Soon<R>, taken: R[]): Promise<R[]> {
  const rest = breather();
  for (const item of items) {
    const result = take(item);
    taken.push(result instanceof Promise ? await result : result);
    const pause = rest();
    if (pause !== undefined) await pause;
  }
  return taken;
}
