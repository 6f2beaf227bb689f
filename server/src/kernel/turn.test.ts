import { expect, test, vi } from 'vitest';
import { breather, nextTurn, TURN_MS } from './turn.ts';

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

test('pieces of work that follow one another in one turn share its time slice', async () => {
  let [now, turn] = [0, 0];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  for (let piece = 0; piece < 6; piece += 1) {
    const rest = breather();
    now += TURN_MS / 2;
    await rest();
    turns.push(turn);
  }
  isOver = true;
  clock.mockRestore();
  expect(turns).toEqual([0, 1, 1, 2, 2, 3]);
});
