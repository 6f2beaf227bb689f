/** What is there at once, or, because it is large, a little later. */
export type Soon<T> = T | Promise<T>;

/** Continues synchronously where possible: a promise for each small piece of a stream would cost more than the piece does. */
export const andThen = <T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> =>
  value instanceof Promise ? value.then(use) : use(value);

/** Takes the items one after the other: at once, as long as none has to be waited for. */
export function inOrder<T, R>(items: readonly T[], take: (item: T) => Soon<R>): Soon<R[]> {
  const taken: R[] = [];
  for (const [at, item] of items.entries()) {
    const result = take(item);
    if (result instanceof Promise) return restInOrder(items.slice(at + 1), take, taken, result);
    taken.push(result);
  }
  return taken;
}

async function restInOrder<T, R>(items: readonly T[], take: (item: T) => Soon<R>, taken: R[], first: Promise<R>): Promise<R[]> {
  taken.push(await first);
  for (const item of items) taken.push(await take(item));
  return taken;
}
