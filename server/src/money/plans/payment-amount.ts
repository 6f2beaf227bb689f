import { formatUsd, type NanoUsd, parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';

/** Nano-USD. */
export const CENT = 10_000_000n;
const [LEAST_PAYMENT, MOST_PAYMENT] = [100n * CENT, 1_000_000n * CENT];

/** @throws Problem `validation_failed` for what no card is charged with */
export function paymentAmount(text: string, least: NanoUsd = LEAST_PAYMENT): NanoUsd {
  const amount = parseUsd(text) ?? 0n;
  if (amount >= least && amount <= MOST_PAYMENT && amount % CENT === 0n) return amount;
  throw notThisAmount('amount_usd', `must be whole cents from $${formatUsd(least)} to $${formatUsd(MOST_PAYMENT)}`);
}

export const notThisAmount = (field: string, msg: string): Problem =>
  new Problem('validation_failed', `${field} ${msg}.`, { errors: [{ loc: ['body', field], msg, type: 'amount' }] });
