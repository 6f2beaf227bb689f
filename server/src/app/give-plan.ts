import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { firstOf } from '../kernel/statements.ts';
import {
  createAccountLock,
  createGivenPlans,
  createPlanBook,
  planOfOperator,
  planOfSeller,
  recordBySystem,
  recordedPlans,
} from '../money/plans/index.ts';
import type { Config } from './config.ts';
import { isSelling } from './plans.ts';
import { tables } from './tables.ts';

interface Deps {
  readonly pool: Pool;
  readonly config: Pick<Config, 'offer' | 'stripe'>;
  readonly clock: Clock;
}

/** Takes back what was given. */
const DEFAULT = 'default';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Gives an account a plan on the server itself, by its id or an e-mail address. @returns what to say */
export async function givePlanByOperator(
  { pool, config, clock }: Deps,
  account: string,
  plan: string,
): Promise<{ readonly isDone: boolean; readonly said: string }> {
  const book = createPlanBook(config.offer, { isSelling: isSelling(config) });
  book.rewrite(config.offer, await recordedPlans(pool));
  if (plan !== DEFAULT && !book.find(plan))
    return {
      isDone: false,
      said: `There is no plan ${plan}: there are ${book.ids.join(', ')}, and ${DEFAULT}, which takes back what was given.`,
    };
  const found = await findAccount(pool, account);
  if (!found) return { isDone: false, said: `There is no account with the id or the address ${account} here.` };
  const planOfAccount = isSelling(config) ? planOfSeller(book) : planOfOperator;
  const given = createGivenPlans({ pool, exclusively: createAccountLock(pool, true), book, planOfAccount, clock });
  const { before, after } = await given.give(found, plan === DEFAULT ? null : plan, (unit, deed) => recordBySystem(unit, found, deed));
  const [from, to] = [book.of(before).name, book.of(after).name];
  return { isDone: true, said: before === after ? `The account stays on ${to}.` : `The account was on ${from} and is on ${to} now.` };
}

async function findAccount(pool: Pool, account: string): Promise<string | undefined> {
  const found = UUID.test(account)
    ? tables.selectFrom('accounts').select('id').where('id', '=', account)
    : tables
        .selectFrom('users')
        .select('account_id as id')
        .where(sql`lower(email)`, '=', sql`lower(${account})`)
        .where('closed_at', 'is', null);
  return (await firstOf(pool, found))?.id;
}
