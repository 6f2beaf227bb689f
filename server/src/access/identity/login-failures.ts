import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { type Origin, recordAudit } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { firstOf, inUnit, type Queryable, run } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { notify } from './notices.ts';
import { tables } from './tables.ts';
import { lockUser } from './users.ts';

/** So many within an hour are told to the owner, once in that hour. */
const TOLD_AFTER = 5;
const WINDOW_MS = 3_600_000;

/** How each kind is called in the audit log, and what the owner is told after five. */
const FAILURES = {
  password: { action: 'login.failed', template: 'logins-failed' },
  passkey: { action: 'login.passkey_failed', template: 'logins-failed' },
  second_factor: { action: 'login.second_factor_failed', template: 'second-factors-failed' },
} as const;

interface LoginFailure {
  /** Undefined where nobody has the address. */
  readonly userId: string | undefined;
  readonly kind: keyof typeof FAILURES;
  readonly at: Date;
  readonly origin: Origin;
}

/**
 * Notes that a login failed. Whose it was, and who is told, is looked up later by a job: the answer must not take longer where there is an
 * account.
 */
export async function noteLoginFailure(pool: Pool, { userId, kind, at, origin }: LoginFailure): Promise<void> {
  await pool.query(
    'insert into login_failures (id, user_id, kind, ip, user_agent, request_id, failed_at) values ($1, $2, $3, $4, $5, $6, $7)',
    [newId(), userId ?? null, kind, origin.ip, origin.userAgent, origin.requestId, at],
  );
}

/** SQL: whether a failed login waits for {@link recordLoginFailures}. */
export const LOGIN_FAILURES_DUE = 'exists (select from login_failures where not recorded)';

export interface Recording {
  readonly signal?: AbortSignal;
  /** Has a line for each failure, with the address and the account: what tools that block addresses read. */
  readonly log?: Log;
}

/** Puts what failed into the audit log of its account, and tells the owner after five. Resolves when nothing waits. */
export async function recordLoginFailures(
  { em, clock }: { em: EntityManager; clock: Clock },
  { signal, log }: Recording = {},
): Promise<void> {
  while (!signal?.aborted && (await inUnitOfWork(em, (unit) => recordNext(unit, new Date(clock.now()), log))));
}

async function recordNext(unit: EntityManager, now: Date, log?: Log): Promise<boolean> {
  const db = inUnit(unit);
  const failure = await firstOf(
    db,
    tables
      .updateTable('login_failures')
      .set({ recorded: true })
      .where('id', '=', (eb) =>
        eb.selectFrom('login_failures').select('id').where('recorded', '=', false).orderBy('id').limit(1).forUpdate().skipLocked(),
      )
      .returning(['id', 'user_id', 'kind', 'ip', 'user_agent', 'request_id', 'failed_at']),
  );
  if (!failure) return false;
  const user = failure.user_id === null ? undefined : await lockUser(unit, failure.user_id);
  const { ip, kind, request_id: requestId } = failure;
  log?.warn({ ip, kind, requestId, accountId: user?.account.id ?? null }, 'login failed');
  if (!user) {
    await run(db, tables.deleteFrom('login_failures').where('id', '=', failure.id));
    return true;
  }
  const origin: Origin = { ip: failure.ip, userAgent: failure.user_agent, requestId: failure.request_id };
  const accountId = user.account.id;
  await recordAudit(db, {
    accountId,
    actor: { kind: 'system', id: null },
    action: FAILURES[kind].action,
    target: { kind: 'user', id: user.id },
    changes: { failed_at: failure.failed_at.toISOString() },
    origin,
  });
  const { failed, told } = await recentOf(db, user.id, new Date(now.getTime() - WINDOW_MS));
  if (failed < TOLD_AFTER || told > 0) return true;
  await run(db, tables.updateTable('login_failures').set({ told_at: now }).where('id', '=', failure.id));
  await notify(db, FAILURES[kind].template, { to: user.email, accountId, at: failure.failed_at, origin });
  return true;
}

async function recentOf(db: Queryable, userId: string, since: Date): Promise<{ readonly failed: number; readonly told: number }> {
  const counted = await firstOf(
    db,
    tables
      .selectFrom('login_failures')
      .select(sql<number>`count(*)::int`.as('failed'))
      .select(sql<number>`(count(*) filter (where told_at > ${since}))::int`.as('told'))
      .where('user_id', '=', userId)
      .where('recorded', '=', true)
      .where('failed_at', '>', since),
  );
  return counted ?? { failed: 0, told: 0 };
}
