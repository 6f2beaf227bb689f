import type { AccountResponse } from '@tallygate/contract';
import { type InferResult, type SqlBool, sql } from 'kysely';
import { rfc3339 } from '../../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, ifGiven, type Queryable, rowsOf } from '../../kernel/statements.ts';
import { capacityOf } from './dedicated-capacity.ts';
import type { PlanTermsDeps } from './subscription-row.ts';
import { tables } from './tables.ts';

export interface AccountFilter {
  readonly email?: string | undefined;
}

const ACCOUNTS = new Keyset({ name: 'accounts', columns: { 'a.id': 'uuid' }, direction: 'desc' });

const OPEN = sql<SqlBool>`exists (select from users u where u.account_id = a.id and u.closed_at is null)`;
const READ = tables
  .selectFrom('accounts as a')
  .leftJoin('subscriptions as s', 's.account_id', 'a.id')
  .select(['a.id', 'a.name', 'a.plan', 'a.given_plan', 'a.created_at', 's.plan_id as sold_plan'])
  .select(['a.reserved_requests_per_minute', 'a.reserved_tokens_per_minute', 'a.reserved_concurrency'])
  .select(
    sql<string[]>`array(select u.email from users u where u.account_id = a.id and u.closed_at is null order by u.created_at)`.as('emails'),
  );
type AccountRow = InferResult<typeof READ>[number];

/** Accounts as administrators see them. */
export function createAccountRecords(pool: Queryable, { book, planOfAccount }: PlanTermsDeps) {
  const toWire = ({ id, name, plan, given_plan, sold_plan, created_at, emails, ...reserved }: AccountRow): AccountResponse => {
    const capacity = capacityOf(reserved);
    const { id: planId, version } = book.of(planOfAccount({ plan, givenPlan: given_plan }));
    const [givenId, givenVersion] = given_plan?.split('@') ?? [];
    return {
      ...{ account_id: id, name, emails: [...emails], plan_id: planId, plan_version: version },
      given_plan: givenId === undefined ? null : { plan_id: givenId, version: givenVersion === undefined ? null : Number(givenVersion) },
      subscription_plan_id: sold_plan,
      dedicated_capacity: capacity && {
        requests_per_minute: capacity.requestsPerMinute,
        tokens_per_minute: capacity.tokensPerMinute,
        concurrency: capacity.concurrency,
      },
      created_at: rfc3339(created_at),
    };
  };

  return {
    async list({ email, ...query }: AccountFilter & PageQuery): Promise<Page<AccountResponse>> {
      const rows = await rowsOf(
        pool,
        ACCOUNTS.pageIn(
          READ.where(OPEN).where(() => ifGiven(email, withAddress)),
          query,
        ),
      );
      return mapPage(ACCOUNTS.page(rows, query), toWire);
    },

    /** @throws Problem `not_found` */
    async get(accountId: string): Promise<AccountResponse> {
      const row = await firstOf(pool, READ.where('a.id', '=', accountId));
      if (!row) throw new Problem('not_found', 'There is no such account: GET /v1/admin/accounts lists them.');
      return toWire(row);
    },
  };
}

const withAddress = (email: string) =>
  sql<SqlBool>`exists (select from users u where u.account_id = a.id and u.closed_at is null and lower(u.email) = lower(${email}))`;
