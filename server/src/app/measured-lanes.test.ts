import { expect, test } from 'vitest';
import type { HoldRequest, LaneStore, Settlement } from '../adapters/lanes/port.ts';
import { measuredLanes } from './measured-lanes.ts';

/** Holds a dollar for each request, at once or later; the third is refused. */
class Lanes {
  readonly #isLate: boolean;
  calls = 0;
  constructor(isLate: boolean) {
    this.#isLate = isLate;
  }
  hold() {
    this.calls += 1;
    const outcome = { held: this.calls !== 3, amount: 1_000_000_000n };
    return this.#isLate ? Promise.resolve(outcome) : outcome;
  }
  settle() {
    return undefined;
  }
  release() {}
  abandon = () => true;
  rates() {
    return this.#isLate;
  }
}

test.each([false, true])('counts what is held until it is settled, released or abandoned (late answers: %s)', async (isLate) => {
  let held: () => bigint = () => -1n;
  const took: string[] = [];
  const store = new Lanes(isLate) as unknown as LaneStore;
  const lanes = measuredLanes(store, {
    laneTook: (operation) => took.push(operation),
    watchHeld: (read) => {
      held = read;
    },
  });
  const hold = (holdId: string) => lanes.hold({ holdId } as HoldRequest);
  await hold('a');
  await hold('b');
  await hold('refused');
  expect(held()).toBe(2_000_000_000n);
  await lanes.settle({ holdId: 'a' } as Settlement);
  expect(held()).toBe(1_000_000_000n);
  await lanes.release('b');
  await hold('c');
  await lanes.abandon('c');
  expect(held()).toBe(0n);
  expect(took).toEqual(['hold', 'hold', 'hold', 'settle', 'hold']);
  // Whatever else the store does, it does as itself.
  expect(Reflect.apply(Reflect.get(lanes, 'rates'), lanes, [])).toBe(isLate);
});
