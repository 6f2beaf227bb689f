import { PLAN_FEATURES, type PlanFeature } from '@tallygate/contract';
import type { PlanOfAccount } from '../../access/identity/index.ts';
import { Problem } from '../../kernel/problem.ts';
import { type Offer, planOfTerms } from './offer.ts';
import type { Plan } from './tiers.ts';

/** For the operator of the gateway: no quota, no rate limit, no price. Nobody can buy it. */
export const OPERATOR = 'operator';
const OPERATOR_PLAN = planOfTerms({
  plan_id: OPERATOR,
  version: 1,
  name: 'Operator',
  monthly_price_usd: '0',
  quota: { requests: null, tokens: null, images: null, audio_seconds: null, video_seconds: null },
  overage: { policy: 'none', ceiling_usd: null },
  rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrency: null },
  features: PLAN_FEATURES,
});

/** How an account names the plan it was sold: `pro@1`. */
export const planRef = ({ id, version }: Pick<Plan, 'id' | 'version'>): string => `${id}@${version}`;

/** Where plans are sold, accounts without one are on the offer's standard. */
export const planOfSeller =
  (book: Pick<PlanBook, 'standard'>): PlanOfAccount =>
  ({ plan }) =>
    plan ?? book.standard.id;

/** A gateway that sells nothing limits nobody but whom its operator gave a plan. */
export const planOfOperator: PlanOfAccount = ({ givenPlan }) => givenPlan ?? OPERATOR;

/** What is offered now, and every version that an account may have. */
export interface PlanBook {
  /** Whether a larger plan can be bought; otherwise the operator gives it. */
  readonly isSelling: boolean;
  /** The plan of new accounts. */
  readonly standard: Plan;
  /** The plan of new accounts and those for sale, cheapest first: what everybody may know of. */
  readonly offered: readonly Plan[];
  /** Ids of all that can be given. */
  readonly ids: readonly string[];
  /**
   * @param ref a version (`pro@1`), or an id, which is the newest version
   * @throws on one that this gateway does not know
   */
  of(ref: string): Plan;
  find(ref: string): Plan | undefined;
  isForSale(id: string): boolean;
  /** 0 for the cheapest; the operator's is above all. */
  rankOf(plan: Pick<Plan, 'id'>): number;
}

/** A book that is written anew while it is read. */
export interface LivePlanBook extends PlanBook {
  /** @param versions all that are on record */
  rewrite(offer: Offer, versions: readonly Plan[]): void;
}

interface Pages {
  readonly standard: Plan;
  readonly offered: readonly Plan[];
  readonly byRef: ReadonlyMap<string, Plan>;
  readonly ranked: readonly string[];
  readonly forSale: ReadonlySet<string>;
}

export function createPlanBook(offer: Offer, { isSelling }: Pick<PlanBook, 'isSelling'>): LivePlanBook {
  let pages = pagesOf(offer, []);
  const of = (ref: string): Plan => {
    const plan = pages.byRef.get(ref);
    if (!plan) throw new Error(`There is no plan "${ref}"`);
    return plan;
  };
  return {
    isSelling,
    get standard() {
      return pages.standard;
    },
    get offered() {
      return pages.offered;
    },
    get ids() {
      return pages.ranked;
    },
    of,
    find: (ref) => pages.byRef.get(ref),
    isForSale: (id) => pages.forSale.has(id),
    rankOf: ({ id }) => pages.ranked.indexOf(id),
    rewrite: (next, versions) => {
      pages = pagesOf(next, versions);
    },
  };
}

/** Plans of the offer stand before older ones of their id. */
function pagesOf({ plans, standard, forSale }: Offer, versions: readonly Plan[]): Pages {
  const newestLast = [...versions.toSorted((a, b) => a.version - b.version), ...plans, OPERATOR_PLAN];
  const byRef = new Map(newestLast.flatMap((plan) => [[plan.id, plan] as const, [planRef(plan), plan] as const]));
  const newest = [...new Set([...plans, ...versions].map(({ id }) => id))].map((id) => byRef.get(id) ?? OPERATOR_PLAN);
  const ranked = newest.toSorted((a, b) => (a.monthlyPrice === b.monthlyPrice ? 0 : a.monthlyPrice < b.monthlyPrice ? -1 : 1));
  const offered = ranked.filter(({ id }) => plans.some((plan) => plan.id === id) && (id === standard || forSale.has(id)));
  return {
    standard: byRef.get(standard) ?? OPERATOR_PLAN,
    offered,
    byRef,
    ranked: [...ranked.map(({ id }) => id), OPERATOR],
    forSale,
  };
}

/** Which of the offered plans have a feature, in words: `Pro, Scale or Enterprise`. */
function plansWith(book: Pick<PlanBook, 'offered'>, feature: PlanFeature): string | undefined {
  const names = book.offered.filter(({ features }) => features.has(feature)).map(({ name }) => name);
  return names.length < 2 ? names[0] : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** How to get what the present plan does not have. */
export const largerPlan = ({ isSelling }: Pick<PlanBook, 'isSelling'>): string =>
  isSelling ? 'get a larger plan (POST /v1/plans/checkout)' : 'ask the operator of this gateway for a larger plan';

/** @throws Problem `plan_required` naming the plans that have it */
export function requireFeature(book: Pick<PlanBook, 'offered' | 'isSelling'>, plan: Plan, feature: PlanFeature): void {
  if (plan.features.has(feature)) return;
  const names = plansWith(book, feature);
  const which = names === undefined ? '' : `${feature} is part of ${names}; `;
  throw new Problem('plan_required', `The plan ${plan.name} does not include ${feature}: ${which}${largerPlan(book)}.`);
}
