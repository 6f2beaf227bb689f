import { expect, test } from 'vitest';
import { atMostEvery } from './at-most-every.ts';

test('is due at once, and then once in each span of time, however often it is asked', () => {
  let now = 5;
  const isDue = atMostEvery(60, () => now);
  const askedAt = [5, 6, 64, 65, 66, 200, 201, 259, 260];
  const due = askedAt.filter((at) => {
    now = at;
    return isDue();
  });
  expect(due).toEqual([5, 65, 200, 260]);
});
