import type { NanoUsd } from '../kernel/money.ts';

/** What a plan's quota counts. */
export type Meter = 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';

/** What happens beyond the quota: nothing goes, the prepaid balance pays, or an invoice does up to its ceiling. */
export type OveragePolicy =
  | { readonly kind: 'block' }
  | { readonly kind: 'balance' }
  | { readonly kind: 'invoice'; readonly ceiling: NanoUsd };

export interface Plan {
  readonly id: string;
  readonly name: string;
  /** Included per UTC calendar month. */
  readonly quota: Readonly<Record<Meter, bigint>>;
  readonly overage: OveragePolicy;
}

const USD = 1_000_000_000n;

const PLANS: readonly Plan[] = [
  {
    id: 'free',
    name: 'Free',
    quota: { requests: 1_000n, tokens: 1_000_000n, images: 10n, audio_seconds: 600n, video_seconds: 0n },
    overage: { kind: 'block' },
  },
  {
    id: 'pro',
    name: 'Pro',
    quota: { requests: 50_000n, tokens: 25_000_000n, images: 500n, audio_seconds: 36_000n, video_seconds: 60n },
    overage: { kind: 'balance' },
  },
  {
    id: 'scale',
    name: 'Scale',
    quota: { requests: 1_000_000n, tokens: 500_000_000n, images: 10_000n, audio_seconds: 720_000n, video_seconds: 1_200n },
    overage: { kind: 'balance' },
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    quota: { requests: 10_000_000n, tokens: 5_000_000_000n, images: 100_000n, audio_seconds: 7_200_000n, video_seconds: 12_000n },
    overage: { kind: 'invoice', ceiling: 50_000n * USD },
  },
];

const byId = new Map(PLANS.map((plan) => [plan.id, plan]));

/** @throws on an id that no account can have */
export function planOf(id: string): Plan {
  const plan = byId.get(id);
  if (!plan) throw new Error(`There is no plan "${id}"`);
  return plan;
}
