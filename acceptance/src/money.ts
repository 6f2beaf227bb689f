import { maxOf } from '../../server/src/kernel/money.ts';

const DIGITS = 9;

/** A decimal string in USD as nano-USD, exactly. */
export function nano(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
}

export const usd = (amount: bigint): string => {
  const digits = amount.toString().padStart(DIGITS + 1, '0');
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`.replace(/\.?0+$/, '');
};

export const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, amount) => total + amount, 0n);

/** Zero where there is none. */
export const largest = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((most, amount) => maxOf(most, amount), 0n);
