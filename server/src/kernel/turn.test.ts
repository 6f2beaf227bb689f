import { expect, test } from 'vitest';
import { nextTurn } from './turn.ts';

test('of several that wait, one continues in each turn of the event loop, in order', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const resumed: { name: string; turn: number }[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      await nextTurn();
      resumed.push({ name, turn });
    }),
  );
  isOver = true;
  const first = resumed[0]?.turn ?? 0;
  expect(first).toBeGreaterThan(0);
  expect(resumed).toEqual([
    { name: 'a', turn: first },
    { name: 'b', turn: first + 1 },
    { name: 'c', turn: first + 2 },
  ]);
});

test('a repeated waiter queues behind those that wait already', async () => {
  const resumed: string[] = [];
  const steps = async (name: string, count: number): Promise<void> => {
    for (let step = 0; step < count; step += 1) {
      await nextTurn();
      resumed.push(name);
    }
  };
  await Promise.all([steps('a', 3), steps('b', 2)]);
  expect(resumed).toEqual(['a', 'b', 'a', 'b', 'a']);
});
