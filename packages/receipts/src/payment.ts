import { QUOTA_METERS, quotaUnits } from './quota-units.ts';
import type { ReceiptPayload } from './receipt.ts';
import { Refused } from './refusal.ts';

/**
 * Whether what was charged follows from the cost and from what the quota covered. The meter of which the quota covered the smallest share
 * decides: the same share of the cost is covered, and the rest is charged, rounded up. Of every other meter the like share is covered,
 * rounded up to whole units.
 *
 * A line of a batch may be charged less, as units do not divide as finely as money. Of what was settled late, and waived in part, less may be
 * charged, and a nano-dollar more: its charge is rounded up twice. A refund and a correction share the cost as their request had shared it, which is
 * seen beside its receipt alone.
 *
 * Throws `Refused` with `payment_mismatch`.
 */
export function checkPayment({
  kind,
  outcome,
  livemode,
  usage,
  cost_nano_usd: stated,
  waived_nano_usd: waived,
  payment,
}: ReceiptPayload): void {
  const { plan, funding, covered, charged_nano_usd: chargedText } = payment;
  const [cost, charged] = [BigInt(stated), BigInt(chargedText)];
  const isUncovered = Object.keys(covered).length === 0;
  if ((funding === 'test') !== !livemode) throw mismatch(`the funding is ${funding} in ${livemode ? 'live' : 'test'} mode`);
  if (!livemode && (plan !== null || charged !== 0n || !isUncovered)) throw mismatch('nobody pays in test mode');
  if (charged > cost) throw mismatch(`${charged} nano-USD were charged of a cost of ${cost}`);
  // A request that ran no model counts as no request.
  const isUncharged = outcome === 'failed' || outcome === 'cached';
  if (isUncharged && !isUncovered) throw mismatch('a request that ran no model takes nothing of a quota');
  if (!livemode || isUncharged) return;
  const share = coveredShare(usage, covered);
  if (kind === 'refund' || kind === 'correction') return;
  const uncovered = ceilOf(cost * (share.whole - share.part), share.whole);
  if (charged === uncovered || (kind === 'batch_line' && charged < uncovered)) return;
  if (waived !== undefined && charged <= uncovered + 1n) return;
  throw mismatch(`${charged} nano-USD were charged, the cost of what the quota did not cover is ${uncovered}`);
}

interface Share {
  readonly part: bigint;
  readonly whole: bigint;
}

/** Of the meter of which the least was covered, exactly. */
function coveredShare(usage: ReceiptPayload['usage'], covered: ReceiptPayload['payment']['covered']): Share {
  const units = quotaUnits(usage);
  let share: Share = { part: 1n, whole: 1n };
  for (const meter of QUOTA_METERS) {
    const [used, part] = [units[meter] ?? 0n, BigInt(covered[meter] ?? 0)];
    if (part > used) throw mismatch(`${part} ${meter} were covered, ${used} used`);
    if (used > 0n && part * share.whole < share.part * used) share = { part, whole: used };
  }
  for (const meter of QUOTA_METERS) {
    const like = ceilOf((units[meter] ?? 0n) * share.part, share.whole);
    if (BigInt(covered[meter] ?? 0) !== like)
      throw mismatch(`${covered[meter] ?? 0} ${meter} were covered, the share of the meter that decides is ${like}`);
  }
  return share;
}

const ceilOf = (amount: bigint, whole: bigint): bigint => (amount + whole - 1n) / whole;

const mismatch = (what: string): Refused => new Refused('payment_mismatch', `payload.payment: ${what}.`);
