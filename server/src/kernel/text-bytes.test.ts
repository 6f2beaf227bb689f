import { expect, test } from 'vitest';
import { textBytes } from './text-bytes.ts';

test.each(['', 'a', 'я', '\u{1F600}', 'a\u{1F600}', '\ud800'])('counts the bytes of a long text of %j', async (unit) => {
  for (const text of [unit, unit.repeat(262_143), unit.repeat(600_000)]) expect(await textBytes(text)).toBe(Buffer.byteLength(text));
});
