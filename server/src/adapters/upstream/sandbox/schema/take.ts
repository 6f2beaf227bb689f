/** The first `count` of what may go on for ever. */
export function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  if (left <= 0) return;
  for (const item of items) {
    yield item;
    left -= 1;
    if (left <= 0) return;
  }
}

/** The first that passes `test`; undefined where none does. */
export function firstThat<T>(items: Iterable<T>, test: (item: T) => boolean): T | undefined {
  for (const item of items) if (test(item)) return item;
  return undefined;
}

/** Each once, in the order in which they first come. */
export function* distinct(items: Iterable<string>): Generator<string> {
  const seen = new Set<string>();
  for (const item of items) {
    if (seen.has(item)) continue;
    seen.add(item);
    yield item;
  }
}
