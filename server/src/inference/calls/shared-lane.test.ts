import { expect, test } from 'vitest';
import { SharedLane } from './shared-lane.ts';

test('processes that share it serve no more together than all of it', () => {
  const processes = [1, 2, 3].map(() => new SharedLane(10, 3));
  for (const lane of processes) lane.reserve(3);
  const served = processes.flatMap((lane) =>
    Array.from({ length: 10 }, () => {
      try {
        return lane.enter();
      } catch {
        return undefined;
      }
    }).filter((leave) => leave !== undefined),
  );
  expect(served).toHaveLength(6);
});
