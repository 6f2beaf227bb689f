import { expect, test } from 'vitest';
import { BoundedMemory } from './bounded-memory.ts';

test('a memory holds no more than it may, and has what was set last', () => {
  const memory = new BoundedMemory<number, string>(3);
  for (let key = 0; key < 100; key += 1) {
    expect(memory.set(key, `of ${key}`)).toBe(`of ${key}`);
    expect([memory.get(key), memory.size <= 3]).toEqual([`of ${key}`, true]);
  }
  expect(memory.has(0)).toBe(false);
});
