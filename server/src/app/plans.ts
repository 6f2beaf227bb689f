import type { Pool } from 'pg';
import type { PlanOfAccount } from '../access/identity/index.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { firstOf } from '../kernel/statements.ts';
import {
  type AccountPlans,
  ChangedPlan,
  createPlanBook,
  type PlanBook,
  planOfOperator,
  planOfSeller,
  recordedPlans,
  recordOffer,
  requireFeature,
} from '../money/plans/index.ts';
import type { RequirePlan } from '../receipts/index.ts';
import type { Closing } from './closing.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import type { Foundation } from './foundation.ts';
import { tables } from './tables.ts';

/** What payments of the sandbox change. Tables that are not there are the gateway's own. */
const TEST_BILLING = 'test_billing,public';
const TEST_POOL_SIZE = 6;

export interface OpenPlans {
  readonly book: PlanBook;
  readonly planOfAccount: PlanOfAccount;
  /** Another gateway has put versions on record. */
  reload(): void;
}

/** Whether live plans are paid for. Stripe's test mode is a sandbox, as the built-in one is. */
export const isSelling = ({ stripe }: Pick<Config, 'stripe'>): boolean => stripe !== undefined && /^[rs]k_live_/.test(stripe.secretKey);

/** Whether nothing on the gateway is real: it asks no AI provider and takes no money. */
export const isTryOut = (config: Pick<Config, 'stripe' | 'providers'>): boolean => !isSelling(config) && config.providers.length === 0;

/** The plans that are offered and those on record, and which of them an account is on. */
export async function openPlans({ config, pool, log }: Pick<Foundation, 'config' | 'pool' | 'log'>): Promise<OpenPlans> {
  const { offer } = config;
  await recordOffer(pool, offer).catch((error: unknown) => {
    throw error instanceof ChangedPlan ? new ConfigError(error.faults.map((fault) => `PLANS_FILE: ${fault}`)) : error;
  });
  const book = createPlanBook(offer, { isSelling: isSelling(config) });
  const reload = async () => book.rewrite(offer, await recordedPlans(pool));
  await reload();
  return {
    book,
    planOfAccount: isSelling(config) ? planOfSeller(book) : planOfOperator,
    reload: () => void reload().catch((failure: unknown) => log.error({ err: failure }, 'the plans on record could not be read')),
  };
}

/** The database as the payment sandbox sees it. */
export function openTestBilling(
  { databaseUrl: url, log, pulse }: Pick<Foundation, 'databaseUrl' | 'log' | 'pulse'>,
  closing: Closing,
): Pool {
  const pool = openPool({ url, log, pulse, poolSize: TEST_POOL_SIZE, searchPath: TEST_BILLING });
  closing.add('billing of the sandbox', () => pool.end());
  return pool;
}

/** Receipts of live requests are part of a plan; those of test requests show how they are. */
export const planForReceipts =
  ({ pool, book, planOfAccount }: Pick<AccountPlans, 'pool' | 'book' | 'planOfAccount'>): RequirePlan =>
  async ({ accountId, livemode }) => {
    if (!livemode) return;
    const account = await firstOf(pool, tables.selectFrom('accounts').select(['plan', 'given_plan']).where('id', '=', accountId));
    const plan = planOfAccount({ plan: account?.plan ?? null, givenPlan: account?.given_plan ?? null });
    requireFeature(book, book.of(plan), 'receipts');
  };
