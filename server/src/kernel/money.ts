/**
 * Money is integers all the way: amounts in nano-USD (10⁻⁹), prices in pico-USD per unit (10⁻¹²), both `bigint`.
 * It becomes a decimal string at the edge and never a float.
 */
export type NanoUsd = bigint;
export type PicoUsd = bigint;

const NANO_DIGITS = 9;
const PICO_PER_NANO = 1000n;

/** Rounds up: called once per request, on the sum of all its parts. */
export const picoToNano = (pico: PicoUsd): NanoUsd => (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO;

/** `ceil(amount × part / whole)`, for amounts and parts that are not negative. */
export const proRata = (amount: bigint, part: bigint, whole: bigint): bigint => (amount * part + whole - 1n) / whole;

/** 1500000000n → "1.5", -5n → "-0.000000005", 0n → "0". */
export const formatUsd = (amount: NanoUsd): string => formatDecimal(amount, NANO_DIGITS);

/** An integer that counts the last of so many decimals: 1250n of 3 → "1.25". */
export function formatDecimal(amount: bigint, decimals: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.length - decimals;
  const fraction = digits.slice(whole).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, whole)}${fraction && `.${fraction}`}`;
}

const DECIMAL_USD = /^\d{1,9}(?:\.\d{1,9})?$/;

/** Parses a non-negative plain decimal with at most nine digits on either side of the point; anything else is `undefined`. */
export function parseUsd(text: string): NanoUsd | undefined {
  if (!DECIMAL_USD.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(NANO_DIGITS, '0'));
}

/** A float for the one place that must have one: OpenAI's `usage.cost` and metrics. Never computed with. */
export const usdForDisplay = (amount: NanoUsd): number => Number(formatUsd(amount));

export const minOf = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const maxOf = (a: bigint, b: bigint): bigint => (a > b ? a : b);
