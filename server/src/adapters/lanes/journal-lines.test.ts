import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineMaker, readLine, writtenEntry, writtenOpen } from './journal-lines.ts';

const HOLD = '0197-hold';

test('a line that is made is read as what was written, whatever its length and characters, one after the other', () => {
  const lines = new LineMaker();
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const size = fc.constantFrom(1, 3, 500);
  fc.assert(
    fc.property(text, size, fc.bigInt({ min: 0n, max: 2n ** 63n }), fc.boolean(), (characters, times, charged, open) => {
      const record = JSON.stringify({ text: characters.repeat(times) });
      const entry = { charged, debt: 0n, covered: { tokens: 7n }, record };
      const line = lines.lineOf(open ? writtenOpen(HOLD, entry) : writtenEntry(entry, HOLD));
      expect(line.at(-1)).toBe(0x0a);
      expect(readLine(line.subarray(0, -1))).toEqual({ lines: [{ ...entry, holdId: HOLD, open }], isDamaged: false });
    }),
  );
});
