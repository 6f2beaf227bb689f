import type { Fees } from '../../adapters/chain/port.ts';
import { maxOf, minOf } from '../../kernel/money.ts';

/** Nodes take another transaction of one nonce only where it pays a tenth more, both ways; some ask for an eighth. */
const MORE_NUMERATOR = 9n;
const MORE_DENOMINATOR = 8n;

/** What is offered at first: the present fees, within the limit. */
export const firstFees = (present: Fees, limit: bigint): Fees => within(present, limit);

/** What takes the place of an offer that was not accepted; undefined where the limit leaves no room for one that nodes would take. */
export function raisedFees(offered: Fees, present: Fees, limit: bigint): Fees | undefined {
  const least: Fees = { maxPerGas: moreThan(offered.maxPerGas), maxPriorityPerGas: moreThan(offered.maxPriorityPerGas) };
  if (least.maxPerGas > limit) return undefined;
  return within(
    {
      maxPerGas: maxOf(least.maxPerGas, present.maxPerGas),
      maxPriorityPerGas: maxOf(least.maxPriorityPerGas, present.maxPriorityPerGas),
    },
    limit,
  );
}

const moreThan = (fee: bigint): bigint => (fee * MORE_NUMERATOR + MORE_DENOMINATOR - 1n) / MORE_DENOMINATOR;

/** What goes to the block's maker is a part of the whole. */
function within({ maxPerGas, maxPriorityPerGas }: Fees, limit: bigint): Fees {
  const whole = minOf(maxPerGas, limit);
  return { maxPerGas: whole, maxPriorityPerGas: minOf(maxPriorityPerGas, whole) };
}
