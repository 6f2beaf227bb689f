import { PLAN_FEATURES, PlanConfigResponse, type PlanFeature } from '@tallygate/contract';
import * as z from 'zod';
import { formatUsd, parseUsd } from '../../kernel/money.ts';
import type { Meter, OveragePolicy, Plan } from './tiers.ts';

/** What lanes count with where a meter has no limit: more than anybody uses in a month, and exact in every store. */
const WITHOUT_LIMIT = 10n ** 15n;

export const METERS: readonly Meter[] = ['requests', 'tokens', 'images', 'audio_seconds', 'video_seconds'];
/** Ids that mean something else where plans are named. */
const RESERVED = new Set(['operator', 'none', 'default']);

const planFields = PlanConfigResponse.shape;
const known = new Set<string>(PLAN_FEATURES);

/** As the interface has plans, so that `GET /v1/plans/config` is where to begin a file. */
const PlanEntry = z
  .strictObject({
    ...planFields,
    plan_id: planFields.plan_id.refine((id) => !RESERVED.has(id), 'is reserved: take another id'),
    version: planFields.version.max(32_767),
    name: z.string().trim().min(1).max(60),
    monthly_price_usd: z.string().regex(/^\d{1,6}(\.\d\d?)?$/, 'must be whole cents of USD such as "20" or "19.99"'),
    quota: planFields.quota.strict(),
    overage: planFields.overage.strict(),
    rate_limits: planFields.rate_limits.strict(),
    features: z.array(
      z.string().refine((name) => known.has(name), `is not a feature: there are ${PLAN_FEATURES.join(', ')}`) as z.ZodType<PlanFeature>,
    ),
    for_sale: z.boolean(),
  })
  .superRefine((plan, { addIssue }) => {
    const refuse = (path: string[], message: string) => addIssue({ code: 'custom', path, message });
    const { policy, ceiling_usd: ceiling } = plan.overage;
    const isUnlimited = Object.values(plan.quota).every((units) => units === null);
    if ((policy === 'none') !== isUnlimited) refuse(['overage', 'policy'], 'must be "none" where every quota is null, and only there');
    if ((policy === 'invoice') !== (ceiling !== null))
      refuse(['overage', 'ceiling_usd'], 'must be an amount for "invoice", and null otherwise');
    if (policy === 'invoice' && !plan.features.includes('invoicing'))
      refuse(['features'], 'must include "invoicing" where usage is paid by invoice');
    if (plan.for_sale && !/[1-9]/.test(plan.monthly_price_usd))
      refuse(['monthly_price_usd'], 'must be more than 0 for a plan that is for sale');
  });

const OfferFile = z
  .strictObject({ default: z.string(), plans: z.array(PlanEntry).min(1).max(100) })
  .superRefine(({ default: id, plans }, { addIssue }) => {
    const refuse = (path: (string | number)[], message: string) => addIssue({ code: 'custom', path, message });
    for (const [index, { plan_id }] of plans.entries())
      if (plans.findIndex((other) => other.plan_id === plan_id) !== index)
        refuse(['plans', index, 'plan_id'], `"${plan_id}" is there twice`);
    const standard = plans.find(({ plan_id }) => plan_id === id);
    if (!standard) refuse(['default'], `must be one of ${plans.map(({ plan_id }) => plan_id).join(', ')}`);
    else if (/[1-9]/.test(standard.monthly_price_usd)) refuse(['default'], `must be a plan that costs nothing, unlike "${id}"`);
  });

/** What an operator offers. */
export interface Offer {
  readonly plans: readonly Plan[];
  /** Id of the plan of new accounts. */
  readonly standard: string;
  /** Ids. */
  readonly forSale: ReadonlySet<string>;
}

export type ReadOffer = { readonly offer: Offer } | { readonly faults: readonly string[] };

/** @returns the offer, or everything that is wrong with it, each with its path */
export function readOffer(json: unknown): ReadOffer {
  const { data, error } = OfferFile.safeParse(json);
  if (error) return { faults: error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`) };
  return {
    offer: {
      plans: data.plans.map(planOfTerms),
      standard: data.default,
      forSale: new Set(data.plans.filter((plan) => plan.for_sale).map(({ plan_id }) => plan_id)),
    },
  };
}

/** What a version of a plan is on record with. */
export type PlanTerms = Omit<z.infer<typeof PlanConfigResponse>, 'features'> & { readonly features: readonly string[] };

export function planOfTerms({ plan_id: id, version, name, monthly_price_usd, quota, overage, rate_limits, features }: PlanTerms): Plan {
  const amounts = METERS.map((meter) => [meter, quota[meter]] as const);
  return {
    ...{ id, version, name },
    monthlyPrice: parseUsd(monthly_price_usd) ?? 0n,
    features: new Set(PLAN_FEATURES.filter((feature) => features.includes(feature))),
    quota: Object.fromEntries(amounts.map(([meter, units]) => [meter, units === null ? null : BigInt(units)])) as Plan['quota'],
    caps: Object.fromEntries(amounts.map(([meter, units]) => [meter, units === null ? WITHOUT_LIMIT : BigInt(units)])),
    overage: overageOf(overage),
    rates: {
      requestsPerMinute: rate_limits.requests_per_minute,
      tokensPerMinute: rate_limits.tokens_per_minute,
      concurrency: rate_limits.concurrency,
    },
  };
}

const overageOf = ({ policy, ceiling_usd }: PlanTerms['overage']): OveragePolicy =>
  policy === 'invoice' ? { kind: policy, ceiling: parseUsd(ceiling_usd ?? '0') ?? 0n } : { kind: policy };

export const unitsToWire = (units: bigint | null): number | null => (units === null ? null : Number(units));

export const termsOfPlan = (plan: Plan) => ({
  plan_id: plan.id,
  version: plan.version,
  name: plan.name,
  monthly_price_usd: formatUsd(plan.monthlyPrice),
  quota: {
    requests: unitsToWire(plan.quota.requests),
    tokens: unitsToWire(plan.quota.tokens),
    images: unitsToWire(plan.quota.images),
    audio_seconds: unitsToWire(plan.quota.audio_seconds),
    video_seconds: unitsToWire(plan.quota.video_seconds),
  },
  overage: { policy: plan.overage.kind, ceiling_usd: plan.overage.kind === 'invoice' ? formatUsd(plan.overage.ceiling) : null },
  rate_limits: {
    requests_per_minute: plan.rates.requestsPerMinute,
    tokens_per_minute: plan.rates.tokensPerMinute,
    concurrency: plan.rates.concurrency,
  },
  features: [...plan.features],
});
