import type { LimitKind, LimitPeriod } from '@tallygate/contract';
import type { NanoUsd } from '../../kernel/money.ts';

export interface Limit {
  readonly kind: LimitKind;
  /** Null: of each of the kind that has none of its own for the period. */
  readonly subject: string | null;
  readonly period: LimitPeriod;
  /** Null: counted, not capped. */
  readonly cap: NanoUsd | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** The account’s own is of no subject, and no account is counted under another’s name. */
const OF_ACCOUNT = '';

/** All limits of one account, by whom they are of. What a request passes through is found by a look into a map for each of its names. */
export class SpendingRules {
  readonly timeZone: string;
  /** Two rules with one edition are the same. */
  readonly edition: string;
  readonly #own = new Map<string, Limit[]>();
  readonly #each = new Map<LimitKind, Limit[]>();

  constructor(timeZone: string, limits: readonly Limit[]) {
    this.timeZone = timeZone;
    this.edition = JSON.stringify([timeZone, ...limits.map(({ cap, ...limit }) => ({ ...limit, cap: cap?.toString() }))]);
    for (const limit of limits) {
      const { kind, subject } = limit;
      if (subject === null && kind !== 'account') this.#each.set(kind, [...(this.#each.get(kind) ?? []), limit]);
      else this.#own.set(nameOf(kind, subject ?? OF_ACCOUNT), [...(this.#own.get(nameOf(kind, subject ?? OF_ACCOUNT)) ?? []), limit]);
    }
  }

  /** Of one of a kind: its own, and for periods in which it has none those of each. */
  of(kind: LimitKind, subject: string = OF_ACCOUNT): readonly Limit[] {
    const own = this.#own.get(nameOf(kind, subject));
    const each = this.#each.get(kind);
    if (!own) return each ?? NONE;
    return each ? [...own, ...each.filter(({ period }) => own.every((limit) => limit.period !== period))] : own;
  }
}

const NONE: readonly Limit[] = [];
const nameOf = (kind: LimitKind, subject: string): string => `${kind}:${subject}`;
