import { setTimeout as wait } from 'node:timers/promises';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

setFlagsFromString('--expose-gc');
/** Of what is young, or all of it, which takes a hundred times as long: as large as what tests import is. */
const collectGarbage: (of: { readonly type: 'minor' | 'major' }) => void = runInNewContext('gc');

const MIB = 1024 * 1024;
/** For so long one request may hold the event loop, on a machine as fast as the one that the bound was set on. */
const MOST_MS = 50;
/** What {@link writtenAndRead} takes there. */
const REFERENCE_MS = 14;
/** So many times its size a request may take in memory, with its answer; of one that is smaller than a megabyte, as if it were one. */
const MOST_TIMES = 8;
/** Other work on the machine makes a measurement larger, never smaller: the least of these is what the request itself takes. */
const MEASUREMENTS = 3;

/** CPU time of this thread: time of other threads is not counted. */
const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The bound on this machine, as busy as it is: one that is slower may take longer by as much, one that is faster may not take less. */
const mostMsNow = (): number => MOST_MS * Math.max(1, writtenAndRead() / REFERENCE_MS);

/** The cost of parsing a request of a megabyte, without a gateway: milliseconds of CPU time. */
function writtenAndRead(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ role: 'user', content: `${at} привет` })));
  const rounds = 10;
  const before = workedMs();
  for (let round = 0; round < rounds; round++) Buffer.from(JSON.stringify(JSON.parse(text)));
  return (workedMs() - before) / rounds;
}

/** Other threads free what was collected, on a busy machine somewhat later. */
const LOOKS = ['minor', 'major', 'major', 'major'] as const;
const SWEEP_MS = 10;
const NEVER = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number): unknown => Atomics.wait(NEVER, 0, 0, ms);

/** A turn that takes less did nothing: work waits for a database or a timer. To look again and again would take a core until then. */
const IDLE_TURN_MS = 0.03;
const IDLE_MS = 0.2;

/** Not as `process.memoryUsage` says it, which asks the kernel too: it is looked at in each turn. */
const usedBytes = (): number => {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
};

/**
 * What work costs: the longest that one turn of the event loop took, and the most memory that was in use beyond what had been before.
 * @param mostBytes where there is more, what is garbage does not count
 * @param isLarge whether the garbage of the time before is taken away first, which takes longer than a small request does
 */
async function measured<T>(
  work: () => Promise<T>,
  mostBytes: number,
  isLarge: boolean,
): Promise<{ longestMs: number; bytes: number; result: T }> {
  if (isLarge)
    for (const type of ['minor', 'major'] as const) {
      collectGarbage({ type });
      await wait(0);
    }
  const before = usedBytes();
  let [longestMs, most, last, lastAt, isOver] = [0, before, workedMs(), performance.now(), false];
  const turn = (): void => {
    const isIdle = performance.now() - lastAt < IDLE_TURN_MS;
    longestMs = Math.max(longestMs, workedMs() - last);
    // Looked at once: to look takes a few bytes itself, with which the second look may be beyond the bound that the first kept.
    let used = usedBytes();
    for (const [look, type] of LOOKS.entries()) {
      if (used - before <= mostBytes) break;
      if (look > 1) sleep(SWEEP_MS);
      collectGarbage({ type });
      used = usedBytes();
    }
    most = Math.max(most, used);
    if (isIdle) sleep(IDLE_MS);
    last = workedMs();
    lastAt = performance.now();
    if (!isOver) setImmediate(turn);
  };
  turn();
  const result = await work();
  isOver = true;
  return { longestMs, bytes: most - before, result };
}

/**
 * That the work holds the event loop for 50 ms at most and takes 8 times its size at most.
 * @param size of what it is about, bytes
 */
export async function expectTurns<T>(what: string, size: number, work: () => Promise<T>): Promise<T> {
  const mostBytes = MOST_TIMES * Math.max(size, MIB);
  let least = { longestMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  for (let count = 0; ; count++) {
    const { longestMs: measuredMs, bytes, result } = await measured(work, mostBytes, size > MIB);
    const longestMs = measuredMs > MOST_MS ? (measuredMs * MOST_MS) / mostMsNow() : measuredMs;
    least = { longestMs: Math.min(least.longestMs, longestMs), bytes: Math.min(least.bytes, bytes) };
    if ((least.longestMs <= MOST_MS && least.bytes <= mostBytes) || count === MEASUREMENTS - 1) {
      expect(least.longestMs, `${what}: ms that the event loop was held`).toBeLessThanOrEqual(MOST_MS);
      expect(least.bytes, `${what}: bytes for ${size}`).toBeLessThanOrEqual(mostBytes);
      return result;
    }
  }
}
