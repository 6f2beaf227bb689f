import { maxOf, type NanoUsd } from '../../kernel/money.ts';

/** What is known of a key's money in one period. */
export interface Counters {
  /** Null: no cap. */
  readonly cap: NanoUsd | null;
  readonly spent: NanoUsd;
  readonly held: NanoUsd;
  /** The highest cap that a refusal came to in this period; null when none did. */
  readonly refusedUnder: NanoUsd | null;
  /** Percent, ascending. */
  readonly alertThresholds: readonly number[];
}

export type BudgetStatus = 'uncapped' | 'ok' | 'warning' | 'exceeded';

/** The budget status of a key, derived from its counters. */
export interface Standing {
  readonly status: BudgetStatus;
  readonly remaining: NanoUsd | null;
  /** Spent ÷ cap, rounded down to four places, so that it never claims a threshold that is not reached. */
  readonly utilization: number | null;
}

/**
 * Holds are worst cases, so a cap is hardly ever spent to the last nano-dollar: a refusal while at least 90 % of the cap is spent counts as
 * the cap exceeded. One below that says as much about the request as about the key, whose smaller requests go on.
 */
export const comesToCap = (spent: NanoUsd, cap: NanoUsd): boolean => spent * 10n >= cap * 9n;

/** Raising the cap beyond the one that a refusal came to makes that refusal history. */
export function standingOf({ cap, spent, held, refusedUnder, alertThresholds }: Counters): Standing {
  if (cap === null) return { status: 'uncapped', remaining: null, utilization: null };
  const remaining = maxOf(0n, cap - spent - held);
  const utilization = cap === 0n ? 1 : Number((spent * 10_000n) / cap) / 10_000;
  if (spent >= cap || (refusedUnder !== null && refusedUnder >= cap)) return { status: 'exceeded', remaining, utilization };
  const isWarned = alertThresholds.some((threshold) => isReached(threshold, cap, spent));
  return { status: isWarned ? 'warning' : 'ok', remaining, utilization };
}

/** A cap of zero is a block and has no shares to reach. */
const isReached = (threshold: number, cap: NanoUsd, spent: NanoUsd): boolean => cap > 0n && spent * 100n >= cap * BigInt(threshold);
