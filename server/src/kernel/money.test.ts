import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatUsd, parseUsd, picoToNano, proRata, usdForDisplay } from './money.ts';

const amount = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n });

describe('an amount', () => {
  test.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [-5n, '-0.000000005'],
    [1_500_000_000n, '1.5'],
    [-1_500_000_000n, '-1.5'],
    [2_000_000_000n, '2'],
    [123_456_789_012_345_678n, '123456789.012345678'],
  ])('of %d nano-USD is written %s', (nano, text) => {
    expect(formatUsd(nano)).toBe(text);
  });

  test('is read back as it was written', () => {
    fc.assert(fc.property(amount, (nano) => parseUsd(formatUsd(nano)) === nano));
  });

  test('is read in any number of decimals up to nine', () => {
    expect(parseUsd('1.50')).toBe(1_500_000_000n);
    expect(parseUsd('007')).toBe(7_000_000_000n);
    expect(parseUsd('0.000000001')).toBe(1n);
  });

  test.each([
    '',
    '.',
    '1.',
    '.5',
    '-1',
    '+1',
    '1e3',
    '1,5',
    ' 1',
    '1 ',
    '1\n',
    '0x10',
    '١',
    '0.0000000001',
    '1234567890',
    'Infinity',
    'NaN',
  ])('%j is none', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  test('is shown as the nearest float', () => {
    expect(usdForDisplay(8_550n)).toBe(0.00000855);
    expect(usdForDisplay(-1_500_000_000n)).toBe(-1.5);
  });
});

describe('rounding', () => {
  test('of prices goes up, by less than a nano-USD', () => {
    fc.assert(
      fc.property(amount, (pico) => {
        const nano = picoToNano(pico);
        expect(nano * 1_000n >= pico && nano * 1_000n < pico + 1_000n).toBe(true);
      }),
    );
  });

  test('of parts goes up, by less than a unit, and never above the whole', () => {
    const parts = fc
      .bigInt({ min: 1n, max: 10n ** 12n })
      .chain((whole) => fc.tuple(fc.bigInt({ min: 0n, max: whole }), fc.constant(whole)));
    fc.assert(
      fc.property(amount, parts, (total, [part, whole]) => {
        const share = proRata(total, part, whole);
        expect(share * whole >= total * part && (share - 1n) * whole < total * part && share <= total).toBe(true);
      }),
    );
  });
});
