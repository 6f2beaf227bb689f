import { expect, test, vi } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import { Closing } from './closing.ts';

const open = () => ({ closing: new Closing(silentLog()), closed: [] as string[] });

test('what was opened is closed in the opposite order, one after the other', async () => {
  const { closing, closed } = open();
  const slow = Promise.withResolvers<void>();
  closing.add('first', async () => void closed.push('first'));
  closing.add('second', async () => {
    await slow.promise;
    closed.push('second');
  });
  const over = closing.close();
  await Promise.resolve();
  expect(closed).toEqual([]);
  slow.resolve();
  await over;
  expect(closed).toEqual(['second', 'first']);
});

test('a step that fails, however it does, keeps no other from closing', async () => {
  const { closing, closed } = open();
  closing.add('first', async () => void closed.push('first'));
  closing.add('rejects', () => Promise.reject(new Error('no')));
  closing.add('throws', () => {
    throw new Error('at once');
  });
  await closing.close();
  expect(closed).toEqual(['first']);
});

test('a step that hangs is left behind', async () => {
  const { closing, closed } = open();
  closing.add('first', async () => void closed.push('first'));
  closing.add('hangs', () => new Promise(() => {}), 5);
  await closing.close();
  expect(closed).toEqual(['first']);
});

test('closing again waits for the same end, and closes nothing twice', async () => {
  const { closing, closed } = open();
  closing.add('only', async () => void closed.push('only'));
  expect(closing.close()).toBe(closing.close());
  await closing.close();
  expect(closed).toEqual(['only']);
});

test('repeated work runs one at a time, survives its failures, and has ended when closing has', async () => {
  vi.useFakeTimers();
  const { closing } = open();
  let running = 0;
  let runs = 0;
  let finish = Promise.withResolvers<void>();
  closing.every(10, 'work', async () => {
    running += 1;
    runs += 1;
    await finish.promise.finally(() => {
      running -= 1;
    });
  });
  await vi.advanceTimersByTimeAsync(35);
  expect({ running, runs }).toEqual({ running: 1, runs: 1 });
  finish.reject(new Error('a bad turn'));
  await vi.advanceTimersByTimeAsync(1);
  finish = Promise.withResolvers();
  await vi.advanceTimersByTimeAsync(10);
  expect({ running, runs }).toEqual({ running: 1, runs: 2 });
  const over = closing.close();
  finish.resolve();
  await over;
  expect(running).toBe(0);
  await vi.advanceTimersByTimeAsync(100);
  expect(runs).toBe(2);
  vi.useRealTimers();
});
