import { Unfit } from './listing.ts';

const MOST_DIGITS = 6;

/**
 * A decimal times a power of ten, exactly: the digits are moved, nothing is multiplied. A number that JSON gave us prints the shortest decimal
 * that means it, which is what the source wrote.
 *
 * @throws Unfit where more than six decimals are left, or more than six digits before the point
 */
export function shifted(value: number, places: number): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  if (whole === '') throw new Unfit(`${value} is no price`);
  const digits = whole + fraction;
  const point = whole.length + Number(exponent) + places;
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits;
  const at = Math.max(point, 1);
  const before = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const after = padded.slice(at).replace(/0+$/, '');
  if (before.length > MOST_DIGITS || after.length > MOST_DIGITS) throw new Unfit(`${value} is not exact in micro-dollars per million`);
  return after === '' ? before : `${before}.${after}`;
}

/** USD for one unit → USD for a million. */
export const perMillion = (usdPerUnit: number): string => shifted(usdPerUnit, 6);

/** `part / whole` where it is a factor of at most six decimals below 1; undefined where it is not. */
export function factorBetween(part: string, whole: string): string | undefined {
  const scaled = (text: string): bigint => {
    const [before = '0', after = ''] = text.split('.');
    return BigInt(before + after.padEnd(MOST_DIGITS, '0'));
  };
  const [numerator, denominator] = [scaled(part) * 10n ** BigInt(MOST_DIGITS), scaled(whole)];
  if (denominator === 0n || numerator === 0n || numerator % denominator !== 0n) return undefined;
  const digits = (numerator / denominator).toString();
  return digits.length > MOST_DIGITS ? undefined : `0.${digits.padStart(MOST_DIGITS, '0').replace(/0+$/, '')}`;
}
