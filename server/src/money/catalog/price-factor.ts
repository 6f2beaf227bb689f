/** A decimal as a fraction of integers. */
export interface Factor {
  readonly part: bigint;
  readonly whole: bigint;
}

const ONE: Factor = { part: 1n, whole: 1n };

/** "0.5" → 5/10. @throws on what is not a plain decimal: a price must not be multiplied by a guess */
export function factorOf(text: string): Factor {
  if (text === '1') return ONE;
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  if (whole === '') throw new RangeError(`"${text}" is no factor on a price`);
  return { part: BigInt(whole + fraction), whole: 10n ** BigInt(fraction.length) };
}

export const ceilDiv = (amount: bigint, by: bigint): bigint => (amount + by - 1n) / by;
