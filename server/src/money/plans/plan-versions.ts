import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { inTransaction } from '../../kernel/transaction.ts';
import { type Offer, type PlanTerms, planOfTerms, termsOfPlan } from './offer.ts';
import { planRef } from './plan-book.ts';
import type { Plan } from './tiers.ts';

/** Announced with the commit that adds a version. */
export const PLANS_CHANNEL = 'tallygate_plans';

/** A version that is on record would mean something else. */
export class ChangedPlan extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Puts the versions of an offer on record, where they stay for the accounts that have them.
 * @throws ChangedPlan where the terms of a version differ from those on record
 */
export const recordOffer = (pool: Pool, { plans }: Offer): Promise<void> =>
  inTransaction(pool, async (unit) => {
    const faults: string[] = [];
    for (const plan of plans) {
      const terms = termsOfPlan(plan);
      await unit.query('insert into plan_versions (plan_id, version, terms) values ($1, $2, $3) on conflict do nothing', [
        ...[plan.id, plan.version, JSON.stringify(terms)],
      ]);
      const { rows } = await unit.query<{ terms: PlanTerms }>('select terms from plan_versions where plan_id = $1 and version = $2', [
        ...[plan.id, plan.version],
      ]);
      const changed = rows[0] ? fieldsThatDiffer(terms, termsOfPlan(planOfTerms(rows[0].terms))) : [];
      if (changed.length === 0) continue;
      const next = (await newestVersion(unit, plan.id)) + 1;
      faults.push(
        `the plan ${planRef(plan)} is on record with another ${changed.join(', ')}: what was offered under a version never changes. Give the changed plan the version ${next}`,
      );
    }
    if (faults.length > 0) throw new ChangedPlan(faults);
  });

type Terms = ReturnType<typeof termsOfPlan>;
const FIELDS = ['name', 'monthly_price_usd', 'quota', 'overage', 'rate_limits', 'features'] as const;
const fieldsThatDiffer = (a: Terms, b: Terms) => FIELDS.filter((field) => !isDeepStrictEqual(a[field], b[field]));

async function newestVersion(unit: Pick<Pool, 'query'>, planId: string): Promise<number> {
  const { rows } = await unit.query<{ newest: number }>('select max(version)::int as newest from plan_versions where plan_id = $1', [
    planId,
  ]);
  return rows[0]?.newest ?? 0;
}

/** Every version that was ever offered. */
export async function recordedPlans(pool: Pick<Pool, 'query'>): Promise<Plan[]> {
  const { rows } = await pool.query<{ terms: PlanTerms }>('select terms from plan_versions order by plan_id, version');
  return rows.map(({ terms }) => planOfTerms(terms));
}
