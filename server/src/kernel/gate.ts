/**
 * Lets so many of a kind of work run at once; the others wait their turn, in the order in which they came. For work that waits while it holds
 * a database connection: without a gate, a rush of one kind would take every connection from all others.
 */
export function createGate(mostAtOnce: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async () => {
    if (running >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
