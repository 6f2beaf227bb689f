/** Lets the event loop turn once: others get their share between two long steps of one request. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** So long may work go on before others get their turn, milliseconds. */
const TURN_MS = 8;

/** For work in many small steps: awaited between two of them, it lets the event loop turn whenever the work has had its time. */
export function breather(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
