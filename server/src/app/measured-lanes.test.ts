import { expect, test } from 'vitest';
import type { HoldRequest, LaneStore, Settlement } from '../adapters/lanes/port.ts';
import { measuredLanes } from './measured-lanes.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** Holds a dollar for each request, at once or later; the third is refused. */
class Lanes {
  readonly #isLate: boolean;
  calls = 0;
  /** Of the thread's time, for each call. */
  busyMs = 0;
  constructor(isLate: boolean) {
    this.#isLate = isLate;
  }
  hold() {
    this.calls += 1;
    this.#work();
    const outcome = { held: this.calls !== 3, amount: 1_000_000_000n };
    return this.#isLate ? Promise.resolve(outcome) : outcome;
  }
  settle() {
    this.#work();
    return undefined;
  }
  release() {}
  abandon = () => true;
  rates() {
    return this.#isLate;
  }
  #work() {
    for (const started = performance.now(); performance.now() - started < this.busyMs; );
  }
}

const USD = 1_000_000_000n;

function measured(store: Lanes) {
  let watched: Parameters<Metrics['watchHeld']>[0] = () => [];
  const took: (readonly [operation: string, seconds: number, projectId: string | undefined])[] = [];
  const lanes = measuredLanes(store as unknown as LaneStore, {
    laneTook: (...what) => took.push([what[0], what[1], what[2]]),
    watchHeld: (read) => {
      watched = read;
    },
  });
  const hold = (holdId: string, more: Partial<HoldRequest> = {}) => lanes.hold({ holdId, ...more } as HoldRequest);
  return { lanes, hold, took, held: () => [...watched()] };
}

test.each([false, true])('counts what is held until it is settled, released or abandoned (late answers: %s)', async (isLate) => {
  const { lanes, hold, held, took } = measured(new Lanes(isLate));
  await hold('a', { projectId: 'p1' });
  await hold('b');
  await hold('refused', { projectId: 'p2' });
  expect(held()).toEqual([
    { projectId: 'p1', amount: USD },
    { projectId: undefined, amount: USD },
  ]);
  await lanes.settle({ holdId: 'a' } as Settlement);
  expect(held()).toEqual([{ projectId: undefined, amount: USD }]);
  await lanes.release('b');
  await hold('c');
  await lanes.abandon('c');
  expect(held()).toEqual([]);
  expect(took.map(([operation, , projectId]) => [operation, projectId])).toEqual([
    ['hold', 'p1'],
    ['hold', undefined],
    ['hold', 'p2'],
    ['settle', 'p1'],
    ['hold', undefined],
  ]);
  // Whatever else the store does, it does as itself.
  expect(Reflect.apply(Reflect.get(lanes, 'rates'), lanes, [])).toBe(isLate);
});

test('does not count what many draw from: another process may end it', async () => {
  const { hold, held } = measured(new Lanes(false));
  await hold('batch', { keptUntil: Date.now() });
  expect(held()).toEqual([]);
});

test('measures lanes in this process, which answer at once', async () => {
  const store = new Lanes(false);
  const { lanes, hold, took } = measured(store);
  store.busyMs = 3;
  await hold('a');
  await lanes.settle({ holdId: 'a' } as Settlement);
  for (const [operation, seconds] of took) expect([operation, seconds]).toEqual([operation, expect.toSatisfy((s: number) => s >= 0.003)]);
  expect(took).toHaveLength(2);
});

test('shows what is held by project, and 0 once it has ended', async () => {
  const metrics = createMetrics();
  const lanes = measuredLanes(new Lanes(false) as unknown as LaneStore, metrics);
  const shown = async (name: string) => (await metrics.render()).body.split('\n').filter((line) => line.startsWith(name));
  expect(await shown('tallygate_held_usd')).toEqual(['tallygate_held_usd{project="none"} 0']);
  await lanes.hold({ holdId: 'a', projectId: 'p1' } as HoldRequest);
  await lanes.hold({ holdId: 'b' } as HoldRequest);
  expect(await shown('tallygate_held_usd')).toEqual(['tallygate_held_usd{project="none"} 1', 'tallygate_held_usd{project="p1"} 1']);
  await lanes.settle({ holdId: 'a' } as Settlement);
  expect(await shown('tallygate_held_usd')).toEqual(['tallygate_held_usd{project="none"} 1', 'tallygate_held_usd{project="p1"} 0']);
  expect((await shown('tallygate_lane_seconds_count')).toSorted()).toEqual([
    'tallygate_lane_seconds_count{operation="hold",project="none"} 1',
    'tallygate_lane_seconds_count{operation="hold",project="p1"} 1',
    'tallygate_lane_seconds_count{operation="settle",project="none"} 0',
    'tallygate_lane_seconds_count{operation="settle",project="p1"} 1',
  ]);
});
