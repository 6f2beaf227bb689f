import { expect, test } from 'vitest';
import { encodedText, textBytes } from './text-bytes.ts';

const UNITS = ['', 'a', 'я', '\u{1F600}', 'a\u{1F600}', '\ud800'];
const lengths = (unit: string) => [unit, unit.repeat(262_143), unit.repeat(600_000)];

test.each(UNITS)('counts the bytes of a long text of %j', async (unit) => {
  for (const text of lengths(unit)) expect(await textBytes(text)).toBe(Buffer.byteLength(text));
});

test.each(UNITS)('encodes a long text of %j as a short one', async (unit) => {
  for (const text of lengths(unit)) expect((await encodedText(text)).equals(Buffer.from(text))).toBe(true);
});
