import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Silence } from './silence.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MOST_MS = 1_000;
function watched(isAtWork = true) {
  const onSilent = vi.fn();
  return { onSilent, silence: new Silence(MOST_MS, { isAtWork: () => isAtWork, onSilent }) };
}

test('a provider that is at work and says nothing for too long is noticed once', () => {
  const { onSilent, silence } = watched();
  silence.watch();
  vi.advanceTimersByTime(MOST_MS - 1);
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * MOST_MS);
  expect(onSilent).toHaveBeenCalledTimes(1);
});

test('a provider that speaks, has nothing to do or waits for its client is not silent', async () => {
  const { onSilent, silence } = watched();
  silence.watch();
  for (let count = 0; count < 5; count += 1) {
    vi.advanceTimersByTime(MOST_MS - 1);
    await silence.whileTaking(async () => {});
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const taking = silence.whileTaking(() => promise);
  vi.advanceTimersByTime(5 * MOST_MS);
  expect(onSilent).not.toHaveBeenCalled();
  resolve();
  await taking;
  const idle = watched(false);
  idle.silence.watch();
  vi.advanceTimersByTime(5 * MOST_MS);
  expect(idle.onSilent).not.toHaveBeenCalled();
});
