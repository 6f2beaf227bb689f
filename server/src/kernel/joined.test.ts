import { expect, test } from 'vitest';
import { joined } from './joined.ts';
import { expectTurns } from './testing/event-loop.ts';

test('joins small pieces at once, and does not copy one alone', () => {
  const one = Buffer.from('one');
  expect(joined([one])).toBe(one);
  expect(joined([one, Buffer.alloc(0), Buffer.from(' two')])).toEqual(Buffer.from('one two'));
  expect(joined([])).toEqual(Buffer.alloc(0));
});

test('joins large pieces in turns of the event loop', async () => {
  const pieces = ['a', 'b', 'c'].map((letter, at) => Buffer.alloc(20_000_000 + at, letter));
  const whole = await expectTurns('60 MB', 60_000_003, async () => joined(pieces));
  expect(whole).toHaveLength(60_000_003);
  expect(whole.equals(Buffer.concat(pieces))).toBe(true);
});
