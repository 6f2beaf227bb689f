import type { PlanId } from '@tallygate/contract';
import type { NanoUsd } from '../kernel/money.ts';

/** What a plan's quota counts. */
export type Meter = 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';

/** What happens beyond the quota: nothing goes, the prepaid balance pays, or an invoice does up to its ceiling. */
export type OveragePolicy =
  | { readonly kind: 'block' }
  | { readonly kind: 'balance' }
  | { readonly kind: 'invoice'; readonly ceiling: NanoUsd };

/** How fast, and how many at once. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  /** In and out. */
  readonly tokensPerMinute: number;
  readonly concurrency: number;
}

export interface Plan {
  readonly id: PlanId;
  /** What is sold under a version never changes; a plan that changes gets a new one, and subscriptions keep theirs. */
  readonly version: number;
  readonly monthlyPrice: NanoUsd;
  readonly features: readonly string[];
  readonly name: string;
  /** Included per UTC calendar month. */
  readonly quota: Readonly<Record<Meter, bigint>>;
  readonly overage: OveragePolicy;
  /** Of all live keys and sessions of the account together. */
  readonly rates: RateLimits;
}

const USD = 1_000_000_000n;

/** Every version that was ever sold, the cheapest tier first and the newest version of a tier last. */
const PLANS: readonly Plan[] = [
  {
    id: 'free',
    version: 1,
    monthlyPrice: 0n,
    features: ['receipts', 'agent_runs'],
    name: 'Free',
    quota: { requests: 1_000n, tokens: 1_000_000n, images: 10n, audio_seconds: 600n, video_seconds: 0n },
    overage: { kind: 'block' },
    rates: { requestsPerMinute: 60, tokensPerMinute: 200_000, concurrency: 10 },
  },
  {
    id: 'pro',
    version: 1,
    monthlyPrice: 20n * USD,
    features: ['receipts', 'agent_runs', 'batches', 'auto_topup'],
    name: 'Pro',
    quota: { requests: 50_000n, tokens: 25_000_000n, images: 500n, audio_seconds: 36_000n, video_seconds: 60n },
    overage: { kind: 'balance' },
    rates: { requestsPerMinute: 1_000, tokensPerMinute: 4_000_000, concurrency: 100 },
  },
  {
    id: 'scale',
    version: 1,
    monthlyPrice: 500n * USD,
    features: ['receipts', 'agent_runs', 'batches', 'auto_topup', 'anchoring'],
    name: 'Scale',
    quota: { requests: 1_000_000n, tokens: 500_000_000n, images: 10_000n, audio_seconds: 720_000n, video_seconds: 1_200n },
    overage: { kind: 'balance' },
    rates: { requestsPerMinute: 10_000, tokensPerMinute: 40_000_000, concurrency: 1_000 },
  },
  {
    id: 'enterprise',
    version: 1,
    monthlyPrice: 5_000n * USD,
    features: ['receipts', 'agent_runs', 'batches', 'auto_topup', 'anchoring', 'invoicing', 'dedicated_capacity'],
    name: 'Enterprise',
    quota: { requests: 10_000_000n, tokens: 5_000_000_000n, images: 100_000n, audio_seconds: 7_200_000n, video_seconds: 12_000n },
    overage: { kind: 'invoice', ceiling: 50_000n * USD },
    rates: { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000, concurrency: 20_000 },
  },
];

/**
 * Of all test keys of the account together, on every plan: the sandbox costs nothing, so these protect the process alone.
 * To meet a 429, give a test key limits of its own.
 */
export const TEST_RATES: RateLimits = { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000, concurrency: 20_000 };

/** As they are sold now, cheapest first. */
export const SOLD_PLANS: readonly Plan[] = PLANS.filter(({ id, version }) =>
  PLANS.every((other) => other.id !== id || other.version <= version),
);

const byRef = new Map([...SOLD_PLANS.map((plan) => [plan.id, plan] as const), ...PLANS.map((plan) => [planRef(plan), plan] as const)]);

/** How an account names the plan it was sold: `pro@1`. */
export function planRef({ id, version }: Pick<Plan, 'id' | 'version'>): string {
  return `${id}@${version}`;
}

/**
 * @param ref of a version that was sold (`pro@1`), or an id, which is the newest version (a plan that was not sold but given)
 * @throws on one that no account can have
 */
export function planOf(ref: string): Plan {
  const plan = byRef.get(ref);
  if (!plan) throw new Error(`There is no plan "${ref}"`);
  return plan;
}

/** 0 for the cheapest. */
export const rankOf = ({ id }: Pick<Plan, 'id'>): number => SOLD_PLANS.findIndex((plan) => plan.id === id);
