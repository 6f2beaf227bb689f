/** Waits for all of it, then fails where one has: a partition that is away keeps nothing from the others. */
export async function together<T>(work: Iterable<Promise<T>>): Promise<T[]> {
  const ended = await Promise.allSettled(work);
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Does all of it, one after the other, then fails where one has. */
export async function inTurn(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const ended: Promise<void>[] = [];
  for (const step of steps) {
    const one = step();
    ended.push(one);
    await one.catch(() => {});
  }
  await Promise.all(ended);
}
