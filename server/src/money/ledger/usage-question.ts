import type { AdminUsageQuery, UsageDimension } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import { archivedMonths, USAGE_RECORDS } from '../../archive/index.ts';
import type { Seen } from '../../http/index.ts';
import { dayOf } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRow } from '../../kernel/statements.ts';
import type { UsageQuestion } from './usage-sources.ts';

export interface UsageScope {
  /** Absent for an operator, who sees all accounts unless one is named. */
  readonly accountId: string | undefined;
  /** Mode of the API key that asks; live for sessions. */
  readonly livemode: boolean;
  /** What the caller sees; undefined: all of the account. */
  readonly seen?: Seen | undefined;
}

/** FOCUS is added up from the requests of so many days. */
const MOST_DAYS_OF_REQUESTS = 31;
const DAY_MS = 86_400_000;

const Calendar = z.object({ zone: z.string(), today: z.string() });

/**
 * What a query asks for, in days of the account's time zone; of all accounts, in UTC.
 * @throws Problem `validation_failed` for a range that is reversed
 */
export async function questionOf(pool: Pool, scope: UsageScope, query: AdminUsageQuery, now: number): Promise<UsageQuestion> {
  const accountId = scope.accountId ?? query.account_id;
  const calendar = await checkedRow(
    pool,
    Calendar,
    `select zone, (to_timestamp($2::float8 / 1000) at time zone zone)::date::text as today
     from (select coalesce((select time_zone from accounts where id = $1::uuid), 'UTC') as zone) as of_account`,
    [accountId ?? null, now],
  );
  if (!calendar) throw new Error('Every account has a time zone');
  const { zone: timeZone, today } = calendar;
  const groups = (query.group_by?.split(',') ?? []) as UsageDimension[];
  const question = {
    ...{ accountId, livemode: query.livemode ?? scope.livemode, timeZone },
    ...{ from: query.from ?? `${today.slice(0, 7)}-01`, to: query.to ?? today },
    ...{ groups, per: query.per ?? (groups.length === 0 ? ('day' as const) : undefined) },
    seen: scope.seen,
    ...{ model: query.model, keyId: query.key_id, runId: query.run_id },
  };
  requireOrder(question);
  return question;
}

/**
 * What is asked of the requests themselves, in days of UTC, in which the ledger counts, of all that the caller sees.
 * @throws Problem `validation_failed` for a range that is reversed, too long or archived, and for groups, which requests have no sums of
 */
export async function requestsQuestionOf(pool: Pool, scope: UsageScope, query: AdminUsageQuery, now: number): Promise<UsageQuestion> {
  if (query.group_by !== undefined) {
    const detail = 'FOCUS has its own columns: leave `group_by` out.';
    const errors = [{ loc: ['query', 'group_by'], msg: 'Not with format=focus', type: 'unexpected' }];
    throw new Problem('validation_failed', detail, { param: 'group_by', errors });
  }
  const today = dayOf(now);
  const question = {
    ...{ accountId: scope.accountId ?? query.account_id, livemode: query.livemode ?? scope.livemode, timeZone: 'UTC' },
    ...{ from: query.from ?? `${today.slice(0, 7)}-01`, to: query.to ?? today, per: query.per ?? ('day' as const), groups: [] },
    ...{ seen: scope.seen, model: query.model, keyId: query.key_id, runId: query.run_id },
  };
  requireOrder(question);
  await requireRequests(pool, question);
  return question;
}

function requireOrder({ from, to }: Pick<UsageQuestion, 'from' | 'to'>): void {
  if (from > to) throw invalidRange('Must not be after `to`', '`from` must not be after `to`.');
}

/** @throws Problem `validation_failed` where there are too many days, or their requests are archived */
async function requireRequests(pool: Pool, { from, to }: Pick<UsageQuestion, 'from' | 'to'>): Promise<void> {
  if (daysBetween(from, to) > MOST_DAYS_OF_REQUESTS)
    throw invalidRange(
      `At most ${MOST_DAYS_OF_REQUESTS} days`,
      `This is added up from single requests, of at most ${MOST_DAYS_OF_REQUESTS} days at a time: ask for fewer days.`,
    );
  const archived = (await archivedMonths(pool)).filter(({ table }) => table === USAGE_RECORDS.name).map(({ month }) => month);
  const first = archived.find((month) => month >= from.slice(0, 7) && month <= to.slice(0, 7));
  if (first !== undefined)
    throw invalidRange(
      `The requests of ${first} are archived`,
      `The requests of ${first} are archived: usage of that month is there as CSV, by any two groups, and without FOCUS.`,
    );
}

const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;

export const invalidRange = (msg: string, detail: string) =>
  new Problem('validation_failed', detail, { param: 'from', errors: [{ loc: ['query', 'from'], msg, type: 'invalid_range' }] });
