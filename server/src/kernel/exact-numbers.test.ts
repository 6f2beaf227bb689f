import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasExactNumbers } from './exact-numbers.ts';
import { expectTurns } from './testing/event-loop.ts';

const isExact = (text: string) => hasExactNumbers(Buffer.from(text));
const MIB = 1024 * 1024;

test.each(['9007199254740993', '[1,18446744073709551615]', '{"a":-9007199254740993}', '0.1000000000000000001', '1e400', '1e-400'])(
  '%s is another number once it is read',
  async (text) => expect(await isExact(text)).toBe(false),
);

test.each(['9007199254740992', '1e21', '1.50E+3', '0.1', '-0.0', '100000000000000000000000', '1.7976931348623157e308'])(
  '%s is read as it is written',
  async (text) => expect(await isExact(text)).toBe(true),
);

test('digits within texts are no numbers', async () => {
  expect(await isExact('{"9007199254740993":"9007199254740993 \\" 9007199254740993"}')).toBe(true);
  expect(await isExact('{"a":"\\\\","b":9007199254740993}')).toBe(false);
});

test('whatever JSON.stringify writes has exact numbers', async () => {
  await fc.assert(fc.asyncProperty(fc.json(), (text) => isExact(text)));
});

test('a number is exact where its digits are those of its double, and no longer than doubles are written', async () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 19 });
  const number = fc.record({
    whole: fc.bigInt({ min: 0n, max: 10n ** 19n }),
    fraction: fc.option(digits),
    exponent: fc.option(fc.integer({ min: -330, max: 330 })),
  });
  await fc.assert(
    fc.asyncProperty(number, async ({ whole, fraction, exponent }) => {
      const text = `${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`;
      fc.pre(text.length <= 32);
      expect(await isExact(text), text).toBe(sameValue(text, String(Number(text))));
    }),
  );
});

/** Compares two decimal numbers as fractions of whole numbers. */
function sameValue(a: string, b: string): boolean {
  if (b === 'Infinity') return false;
  const [left, right] = [a, b].map((text) => {
    const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? [];
    return { digits: BigInt(whole + fraction), power: Number(exponent) - fraction.length };
  }) as [{ digits: bigint; power: number }, { digits: bigint; power: number }];
  const least = Math.min(left.power, right.power);
  return left.digits * 10n ** BigInt(left.power - least) === right.digits * 10n ** BigInt(right.power - least);
}

test.each([
  ['short exponents', `[${'1e1,'.repeat(MIB / 4)}0]`],
  ['seventeen digits', `[${'0.30000000000000004,'.repeat(MIB / 20)}0]`],
  ['a number of many digits', `[1${'0'.repeat(60_000)}1]`],
])('numbers hold the event loop for 50 ms and take 8 times their size at most: %s', async (what, text) => {
  const bytes = Buffer.from(text);
  await expectTurns(what, bytes.length, () => hasExactNumbers(bytes));
});
