import type { PlanFeature } from '@tallygate/contract';
import type { Units } from '../../adapters/lanes/port.ts';
import type { NanoUsd } from '../../kernel/money.ts';

/** What a plan's quota counts. */
export type Meter = 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';

/** What happens beyond the quota: there is nothing beyond it, nothing goes, the prepaid balance pays, or an invoice does up to its ceiling. */
export type OveragePolicy =
  | { readonly kind: 'none' }
  | { readonly kind: 'block' }
  | { readonly kind: 'balance' }
  | { readonly kind: 'invoice'; readonly ceiling: NanoUsd };

/** How fast, and how many at once; null: without limit. */
export interface RateLimits {
  readonly requestsPerMinute: number | null;
  /** In and out. */
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

export interface Plan {
  readonly id: string;
  /** What is sold under a version never changes; a plan that changes gets a new one, and subscriptions keep theirs. */
  readonly version: number;
  readonly monthlyPrice: NanoUsd;
  readonly features: ReadonlySet<PlanFeature>;
  readonly name: string;
  /** Included per UTC calendar month; null: without limit. */
  readonly quota: Readonly<Record<Meter, bigint | null>>;
  /** The quota as lanes take it. */
  readonly caps: Units;
  readonly overage: OveragePolicy;
  /** Of all live keys and sessions of the account together. */
  readonly rates: RateLimits;
}

/**
 * Of all test keys of the account together, on every plan, unless the operator has set others: the sandbox costs nothing, so these protect
 * the process alone. To meet a 429 sooner, give a test key limits of its own.
 */
export const TEST_RATES = { requestsPerMinute: 1_000, tokensPerMinute: 10_000_000, concurrency: 100 } satisfies RateLimits;
