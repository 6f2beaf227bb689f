import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Renewed } from './renewed.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Each is good for an hour. */
function credentials(fails: () => boolean = () => false) {
  let count = 0;
  const renewed = new Renewed({
    fetch: async () => {
      if (fails()) throw new Error('unreachable');
      count += 1;
      return { value: `number ${count}`, expiresAtMs: Date.now() + HOUR_MS };
    },
    clock: { now: () => Date.now() },
  });
  return { renewed, fetched: () => count };
}

it('fetches once for all requests that wait for the first', async () => {
  const { renewed, fetched } = credentials();
  expect(await Promise.all([renewed.get(), renewed.get()])).toEqual(['number 1', 'number 1']);
  expect(renewed.get()).toBe('number 1');
  expect(fetched()).toBe(1);
  renewed.close();
});

it('fetches anew five minutes ahead of the end, and no request waits for it', async () => {
  const { renewed } = credentials();
  await renewed.get();
  await vi.advanceTimersByTimeAsync(HOUR_MS - 5 * 60_000 - 1);
  expect(renewed.get()).toBe('number 1');
  await vi.advanceTimersByTimeAsync(1);
  expect(renewed.get()).toBe('number 2');
  renewed.close();
});

it('keeps what is still good while no other can be had, and asks again', async () => {
  let isDown = false;
  const { renewed } = credentials(() => isDown);
  await renewed.get();
  isDown = true;
  await vi.advanceTimersByTimeAsync(HOUR_MS - 60_000);
  expect(renewed.get()).toBe('number 1');
  isDown = false;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(renewed.get()).toBe('number 2');
  renewed.close();
});

it('refuses where none can be had, and fetches with the next request', async () => {
  let isDown = true;
  const { renewed } = credentials(() => isDown);
  await expect(renewed.get()).rejects.toThrow('unreachable');
  isDown = false;
  expect(await renewed.get()).toBe('number 1');
  renewed.close();
});

it('fetches others where the other end refuses them, and none once it is closed', async () => {
  const { renewed, fetched } = credentials();
  await renewed.get();
  renewed.discard();
  expect(await renewed.get()).toBe('number 2');
  renewed.close();
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
  expect(fetched()).toBe(2);
});
