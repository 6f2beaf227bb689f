/** Continuations for the next turns, in order. */
const waiting: (() => void)[] = [];

/**
 * Lets the event loop turn at least once: other requests run between two long steps of one request. One of the waiters continues in
 * each turn, so that the long steps of several requests never add up to one long turn.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });

function resumeOne(): void {
  turnBegan = undefined;
  waiting.shift()?.();
  // Asked for within an immediate, the next one comes a turn later.
  if (waiting.length > 0) setImmediate(resumeOne);
}

/** So long may work go on before others get their turn, milliseconds. */
export const TURN_MS = 8;

/** When the first work of this turn began, where any takes care to be short. */
let turnBegan: number | undefined;

function endTurn(): void {
  turnBegan = undefined;
}

function beginning(): number {
  setImmediate(endTurn);
  return performance.now();
}

/**
 * For work in many small steps: awaited between two of them, it lets the event loop turn when the time slice of this turn is used up. All
 * work of a turn shares its slice: pieces that follow one another, each of them short, never add up to a long turn.
 */
export function breather(): () => Promise<void> | undefined {
  turnBegan ??= beginning();
  return () => {
    turnBegan ??= beginning();
    return performance.now() - turnBegan < TURN_MS ? undefined : nextTurn();
  };
}

/** Work in small steps, each of which ends with a yield: it can be done {@link atOnce} or {@link inTurns}. */
export type Steps<Result> = Generator<void, Result>;

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Other work has its turn between the steps. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  const rest = breather();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await rest();
  }
}
