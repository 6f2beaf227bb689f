import type { LimitKind, LimitStatus, SetLimitRequest, TimeZone, SpendingLimit as WireLimit } from '@tallygate/contract';
import type { Pool } from 'pg';
import { projectsSeenBy } from '../../access/projects/index.ts';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { formatUsd, maxOf, parseUsd } from '../../kernel/money.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, ifGiven, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { countSpent, laneId } from '../ledger/index.ts';
import type { SpendingLimit } from './entities.ts';
import { windowAt } from './period.ts';
import { requireSubject } from './subjects.ts';
import { tables } from './tables.ts';

type LimitRow = RowOf<typeof SpendingLimit>;

interface LimitsDeps {
  readonly pool: Pool;
  readonly lanes: Pick<LaneStore, 'inspect'>;
  readonly clock: Clock;
  readonly isModel: (id: string) => boolean;
  /** This process's own memory of keys: it must not need the round trip through PostgreSQL to know. */
  readonly forgetKeys: (accountId: string) => void;
}

/** What a request asks of one limit. */
export interface LimitQuery {
  readonly subject?: string | undefined;
  readonly livemode: boolean;
}

/** A request passes by its limits on every gateway: few of them. */
const MOST_LIMITS = 200;
const LIMITS = new Keyset({ name: 'limits', columns: { id: 'uuid' }, direction: 'desc' });

/** Whoever asks sees the limits of their own account and no others, and developers of projects those that they are members of. */
export class Limits {
  readonly #deps: LimitsDeps;

  constructor(deps: LimitsDeps) {
    this.#deps = deps;
  }

  async list(principal: Principal, { kind, subject, external_id, ...query }: ListQuery): Promise<Page<WireLimit>> {
    const projects = await projectsSeenBy(this.#deps.pool, principal);
    const wanted = limitsOf(principal.accountId)
      .where((eb) =>
        ifGiven(projects, (seen) => eb.or([eb('kind', '!=', 'project'), eb('subject', 'is', null), eb('subject', '=', anyOf(seen))])),
      )
      .where((eb) => ifGiven(kind, (one) => eb('kind', '=', one)))
      .where((eb) => ifGiven(subject, (one) => eb('subject', '=', one)))
      .where((eb) => ifGiven(external_id, (one) => eb('external_id', '=', one)));
    return mapPage(LIMITS.page(await rowsOf(this.#deps.pool, LIMITS.pageIn(wanted, query)), query), toWire);
  }

  /** @throws Problem `not_found` for a subject that the account does not have; `validation_failed`; `conflict` beyond the most */
  set(principal: Principal, request: SetLimitRequest, origin: Origin): Promise<WireLimit> {
    const { accountId } = principal;
    return this.#change(accountId, async (db) => {
      const { kind, subject, period } = request;
      await requireSubject(db, { accountId, kind, subject }, this.#deps.isModel);
      const named = limitsOf(accountId).where('kind', '=', kind).where('subject', 'is not distinct from', subject);
      const before = await firstOf(db, named.where('period', '=', period));
      if (!before) await requireRoom(db, accountId);
      if (request.external_id !== undefined) await requireFreeExternalId(db, accountId, request.external_id, before?.id);
      const now = new Date(this.#deps.clock.now());
      const id = before?.id ?? newId();
      const external_id = request.external_id ?? before?.external_id ?? null;
      const figures = { ...figuresOf(request), external_id, updated_at: now };
      if (before) await run(db, tables.updateTable('limits').set(figures).where('id', '=', id));
      else {
        const made = { id, account_id: accountId, kind, subject, period, created_at: now, ...figures };
        await run(db, tables.insertInto('limits').values(made));
        await this.#count(db, await zoneOf(db, accountId), made);
      }
      await audit(db, principal, { action: 'limit.set', target: { kind: 'limit', id }, changes: { ...request } }, origin);
      return toWire(await find(db, accountId, id));
    });
  }

  /** @throws Problem `not_found` */
  delete(principal: Principal, limitId: string, origin: Origin): Promise<void> {
    return this.#change(principal.accountId, async (db) => {
      const { kind, subject, period } = await find(db, principal.accountId, limitId);
      await run(db, tables.deleteFrom('limits').where('id', '=', limitId));
      const changes = { kind, subject, period };
      await audit(db, principal, { action: 'limit.deleted', target: { kind: 'limit', id: limitId }, changes }, origin);
    });
  }

  /** @throws Problem `not_found`, also for a limit of each of a kind without a subject, and for a project that the caller does not see */
  async status(principal: Principal, limitId: string, { subject: asked, livemode }: LimitQuery): Promise<LimitStatus> {
    const { pool, lanes, clock } = this.#deps;
    const { accountId } = principal;
    const row = await find(pool, accountId, limitId);
    const subject = row.subject ?? asked ?? (row.kind === 'account' ? '' : undefined);
    if (subject === undefined) throw new Problem('not_found', 'It is a limit of each: say in `subject` whose spending is meant.');
    if (row.kind === 'project' && (await projectsSeenBy(pool, principal))?.includes(subject) === false) throw unknownLimit();
    const { start, end } = windowAt(row.period, await zoneOf(pool, accountId), clock.now());
    const lane = laneId.limit({ accountId, livemode, period: row.period, start, kind: row.kind, subject });
    const { spent, held } = (await lanes.inspect([lane])).get(lane) ?? { spent: 0n, held: 0n };
    return {
      limit: toWire(row),
      subject: subject === '' ? null : subject,
      livemode,
      ...{ spent_usd: formatUsd(spent), held_usd: formatUsd(held) },
      remaining_usd: row.cap_nano === null ? null : formatUsd(maxOf(0n, row.cap_nano - spent - held)),
      period_start: start === null ? null : rfc3339(start),
      resets_at: end === null ? null : rfc3339(end),
    };
  }

  async timeZone(accountId: string): Promise<TimeZone> {
    return { time_zone: await zoneOf(this.#deps.pool, accountId) };
  }

  setTimeZone(principal: Principal, { time_zone }: TimeZone, origin: Origin): Promise<TimeZone> {
    const { accountId } = principal;
    return this.#change(accountId, async (db) => {
      const from = await zoneOf(db, accountId);
      if (from === time_zone) return { time_zone };
      await db.query('update accounts set time_zone = $2 where id = $1', [accountId, time_zone]);
      // The windows that run now begin at other times, and so do their lanes.
      for (const row of await rowsOf(db, limitsOf(accountId).where('period', '!=', 'lifetime'))) await this.#count(db, time_zone, row);
      const changes = { time_zone: { from, to: time_zone } };
      await audit(db, principal, { action: 'limit.time_zone_changed', target: { kind: 'account', id: accountId }, changes }, origin);
      return { time_zone };
    });
  }

  /** Changes of one account wait for each other; all instances hear of them with the commit, this one before the answer. */
  async #change<Result>(accountId: string, work: (db: Queryable) => Promise<Result>): Promise<Result> {
    const result = await inTransaction(this.#deps.pool, async (db) => {
      await db.query("select pg_advisory_xact_lock(hashtextextended('limits:' || $1, 0))", [accountId]);
      return work(db);
    });
    this.#deps.forgetKeys(accountId);
    return result;
  }

  /** What was spent before in the window that runs now. */
  #count(db: Queryable, zone: string, limit: Pick<LimitRow, 'account_id' | 'kind' | 'subject' | 'period'>): Promise<void> {
    const { account_id: accountId, kind, subject, period } = limit;
    return countSpent(db, { accountId, kind, subject, period, ...windowAt(period, zone, this.#deps.clock.now()) });
  }
}

const limitsOf = (accountId: string) => tables.selectFrom('limits').selectAll().where('account_id', '=', accountId);

const zoneOf = async (db: Queryable, accountId: string): Promise<string> =>
  (await firstOf(db, tables.selectFrom('accounts').select('time_zone').where('id', '=', accountId)))?.time_zone ?? 'UTC';

async function find(db: Queryable, accountId: string, limitId: string): Promise<LimitRow> {
  const found = await firstOf(db, limitsOf(accountId).where('id', '=', limitId));
  if (!found) throw unknownLimit();
  return found;
}

const unknownLimit = (): Problem => new Problem('not_found', 'There is no such limit in this account: GET /v1/limits lists its limits.');

const audit = (db: Queryable, principal: Principal, entry: Told, origin: Origin): Promise<void> =>
  recordAudit(db, { accountId: principal.accountId, actor: actorOf(principal), origin, ...entry });

const figuresOf = ({ cap_usd, requests_per_minute, tokens_per_minute, alert_thresholds }: SetLimitRequest) => ({
  cap_nano: cap_usd === null ? null : (parseUsd(cap_usd) ?? null),
  requests_per_minute,
  tokens_per_minute,
  alert_thresholds,
});

type ListQuery = PageQuery & {
  readonly kind?: LimitKind | undefined;
  readonly subject?: string | undefined;
  readonly external_id?: string | undefined;
};

interface Told {
  readonly action: `limit.${string}`;
  readonly target: { readonly kind: 'limit' | 'account'; readonly id: string };
  readonly changes: Readonly<Record<string, unknown>>;
}

/** @throws Problem `conflict` where another limit has the id */
async function requireFreeExternalId(db: Queryable, accountId: string, externalId: string, own: string | undefined): Promise<void> {
  const other = await firstOf(db, limitsOf(accountId).where('external_id', '=', externalId));
  if (other && other.id !== own) throw new Problem('conflict', `The limit ${other.id} has this external_id.`, { param: 'external_id' });
}

async function requireRoom(db: Queryable, accountId: string): Promise<void> {
  const counted = tables.selectFrom('limits').select(({ fn }) => fn.countAll<string>().as('count'));
  const { count = '0' } = (await firstOf(db, counted.where('account_id', '=', accountId))) ?? {};
  if (Number(count) >= MOST_LIMITS) throw new Problem('conflict', `An account has at most ${MOST_LIMITS} limits: delete one first.`);
}

const toWire = ({ id, kind, subject, period, external_id, cap_nano, created_at, updated_at, ...rates }: LimitRow): WireLimit => ({
  ...{ limit_id: id, kind, subject, period, external_id },
  cap_usd: cap_nano === null ? null : formatUsd(cap_nano),
  requests_per_minute: rates.requests_per_minute,
  tokens_per_minute: rates.tokens_per_minute,
  alert_thresholds: rates.alert_thresholds,
  created_at: rfc3339(created_at),
  updated_at: rfc3339(updated_at),
});
