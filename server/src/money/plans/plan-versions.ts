import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { firstOf, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type Offer, planOfTerms, termsOfPlan } from './offer.ts';
import { planRef } from './plan-book.ts';
import { tables } from './tables.ts';
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
      const recorded = tables.selectFrom('plan_versions').select('terms').where('plan_id', '=', plan.id);
      const known = await firstOf(unit, recorded.where('version', '=', plan.version));
      const changed = known ? fieldsThatDiffer(terms, termsOfPlan(planOfTerms(known.terms))) : [];
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

async function newestVersion(db: Queryable, planId: string): Promise<number> {
  const versions = tables.selectFrom('plan_versions').select(({ fn }) => fn.max<number | null>('version').as('newest'));
  return (await firstOf(db, versions.where('plan_id', '=', planId)))?.newest ?? 0;
}

/** Every version that was ever offered. */
export async function recordedPlans(db: Queryable): Promise<Plan[]> {
  const rows = await rowsOf(db, tables.selectFrom('plan_versions').select('terms').orderBy('plan_id').orderBy('version'));
  return rows.map(({ terms }) => planOfTerms(terms));
}
