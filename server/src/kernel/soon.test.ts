import { expect, test, vi } from 'vitest';
import { inOrder } from './soon.ts';
import { TURN_MS } from './turn.ts';

test('few items are taken at once, and of many other work has its turn between them', async () => {
  expect(inOrder([1, 2, 3], (item) => item * 2)).toEqual([2, 4, 6]);
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const items = Array.from({ length: 2_000 }, (_, at) => at);
  const taken = await inOrder(items, (item) => {
    now += TURN_MS / 100;
    return item;
  });
  isOver = true;
  clock.mockRestore();
  expect(taken).toEqual(items);
  expect(turns).toBeGreaterThanOrEqual(9);
});

test('items that have to be waited for are taken in order, one after the other', async () => {
  const begun: number[] = [];
  const taken = await inOrder([1, 2, 3, 4], (item) => {
    begun.push(item);
    return item % 2 === 0 ? Promise.resolve(item) : item;
  });
  expect({ begun, taken }).toEqual({ begun: [1, 2, 3, 4], taken: [1, 2, 3, 4] });
});
