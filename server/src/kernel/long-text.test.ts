import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LongText, MOST_WIDE_CHARACTERS, WideTextFault } from './long-text.ts';

const piece = fc.string({ unit: fc.constantFrom('a', 'é', 'я', '\u{1F600}', '\n', '\\', '"', '\ud800'), minLength: 1, maxLength: 20 });

test('makes of the pieces what they are one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 10 }), async (pieces) => {
      const written = pieces.map((one) => JSON.stringify(one).slice(1, -1));
      const text = new LongText(Buffer.from(written.join('')));
      for (const [at, one] of pieces.entries()) text.measure(one, Buffer.byteLength(written[at] ?? ''));
      if (!text.isPlain) for (const one of pieces) text.write(one);
      expect(await text.whole()).toBe(pieces.join(''));
    }),
  );
});

test('refuses a text of too many characters only where they do not fit into a byte each', () => {
  const narrow = new LongText(Buffer.alloc(0));
  narrow.measure('é'.repeat(1_000), 2_000);
  const long = 'x'.repeat(MOST_WIDE_CHARACTERS);
  expect(() => narrow.measure(long, long.length)).not.toThrow();
  expect(() => narrow.measure('я', 2)).toThrow(WideTextFault);
});
