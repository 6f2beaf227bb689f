import type { AccountResponse } from '@tallygate/contract';
import type { Pool } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { type Keyed, Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import type { PlanTermsDeps } from './subscription-row.ts';

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly plan: string | null;
  readonly given_plan: string | null;
  readonly sold_plan: string | null;
  readonly created_at: Date;
  readonly emails: readonly string[];
}

export interface AccountFilter {
  readonly email?: string | undefined;
}

const ACCOUNTS = new Keyset({ name: 'accounts', columns: { 'a.id': 'uuid' }, direction: 'desc' });

const SELECT = `select a.id, a.name, a.plan, a.given_plan, a.created_at, s.plan_id as sold_plan,
    array(select u.email from users u where u.account_id = a.id and u.closed_at is null order by u.created_at) as emails
  `;
const JOINED = 'from accounts a left join subscriptions s on s.account_id = a.id';
const OPEN = 'exists (select from users u where u.account_id = a.id and u.closed_at is null)';

/** Accounts as administrators see them. */
export function createAccountRecords(pool: Pick<Pool, 'query'>, { book, planOfAccount }: PlanTermsDeps) {
  const toWire = ({ id, name, plan, given_plan, sold_plan, created_at, emails }: AccountRow): AccountResponse => {
    const { id: planId, version } = book.of(planOfAccount({ plan, givenPlan: given_plan }));
    const [givenId, givenVersion] = given_plan?.split('@') ?? [];
    return {
      ...{ account_id: id, name, emails: [...emails], plan_id: planId, plan_version: version },
      given_plan: givenId === undefined ? null : { plan_id: givenId, version: givenVersion === undefined ? null : Number(givenVersion) },
      subscription_plan_id: sold_plan,
      created_at: rfc3339(created_at),
    };
  };

  return {
    async list({ email, ...query }: AccountFilter & PageQuery): Promise<Page<AccountResponse>> {
      const { rows } = await pool.query<AccountRow & Keyed>(
        `${SELECT}, ${ACCOUNTS.key} ${JOINED} where ${OPEN} and ${ACCOUNTS.after('$2')}
            and ($1::text is null or exists (select from users u where u.account_id = a.id and u.closed_at is null and lower(u.email) = lower($1)))
          order by ${ACCOUNTS.order} limit $3`,
        [email ?? null, ...ACCOUNTS.values(query)],
      );
      return mapPage(ACCOUNTS.page(rows, query), toWire);
    },

    /** @throws Problem `not_found` */
    async get(accountId: string): Promise<AccountResponse> {
      const { rows } = await pool.query<AccountRow>(`${SELECT} ${JOINED} where a.id = $1`, [accountId]);
      if (!rows[0]) throw new Problem('not_found', 'There is no such account: GET /v1/admin/accounts lists them.');
      return toWire(rows[0]);
    },
  };
}
