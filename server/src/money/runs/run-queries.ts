import { type Run, type RunQuery, RunState, RunStep } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Seen } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { checkedRow, checkedRows } from '../../kernel/statements.ts';
import type { RunOwner } from './run.ts';

const RunRow = z.object({
  run_id: z.string(),
  ancestor_run_ids: z.array(z.string()),
  livemode: z.boolean(),
  state: RunState,
  ceiling: z.string().nullable(),
  spent: z.string(),
  requests: z.string(),
  calls: z.string(),
  max_calls: z.string().nullable(),
  deadline_at: z.date().nullable(),
  closed_at: z.date().nullable(),
  begun_at: z.date(),
  last_request_at: z.date().nullable(),
});
type RunRow = z.infer<typeof RunRow>;

/** Of what the ledger says of a request, with what was corrected since. */
const StepRow = z.object({
  request_id: z.string(),
  endpoint: z.string(),
  model_requested: z.string(),
  model_served: z.string(),
  fallback: RunStep.shape.fallback,
  outcome: RunStep.shape.outcome,
  cost_nano: z.bigint(),
  refunded: z.boolean(),
  receipt_id: z.string(),
  started_at: z.date(),
  completed_at: z.date(),
});
type StepRow = z.infer<typeof StepRow>;
/** What pages are told from. */
const KEYED = { page_key: z.array(z.string()) };

const BY_BEGIN = new Keyset({ name: 'runs', columns: { begun_at: 'time', run_id: 'text' }, direction: 'desc' });
const STEPS = new Keyset({ name: 'run_steps', columns: { started_at: 'time', request_id: 'text', attempt: 'integer' }, direction: 'asc' });

/** Runs with their totals. The totals are the ledger's, so they lag behind by a second or so; $1 is the account, $2 the mode, $3 the time. */
const RUNS = `(
  select b.run_id, b.ancestor_run_ids, b.livemode, b.calls::text, b.max_calls::text, b.deadline_at, b.begun_at, t.last_request_at,
    t.ceiling_nano::text as ceiling, coalesce(t.spent_nano, 0)::text as spent, coalesce(t.requests, 0)::text as requests,
    least(b.closed_at, a.closed_at) as closed_at,
    case when b.closed_at is not null or a.closed_at is not null then 'closed'
      when t.spent_nano >= t.ceiling_nano or b.calls >= b.max_calls or b.deadline_at <= $3 then 'exhausted' else 'active' end as state
  from agent_run_bounds b
  left join agent_runs t on t.account_id = b.account_id and t.livemode = b.livemode and t.run_id = b.run_id
  -- A child that began while its parent was being closed.
  left join lateral (select min(closed_at) as closed_at from agent_run_bounds p
    where p.account_id = b.account_id and p.livemode = b.livemode and p.run_id = any(b.ancestor_run_ids)) a on true
  where b.account_id = $1 and b.livemode = $2) as runs`;

/** Whose runs, and what of them the caller sees; undefined: all of the account. */
export interface RunScope extends RunOwner {
  readonly seen?: Seen | undefined;
}

/**
 * A run is seen by those who see any of its requests; $1 is the account, $2 the mode.
 * @param who the caller, null for one who sees all. @param projects theirs
 */
const runSeen = (who: string, projects: string): string => `(${who}::uuid is null or run_id in (select u.run_id from usage_runs_daily u
  where u.account_id = $1 and u.livemode = $2 and (u.user_id = ${who} or u.project_id = any(${projects}::uuid[]))))`;
const seenValues = (seen: Seen | undefined): [string | null, string[]] => [seen?.userId ?? null, [...(seen?.projects ?? [])]];

export class RunQueries {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async list(
    { accountId, livemode, seen }: RunScope,
    { state, parent_run_id, ...query }: Pick<RunQuery, 'state' | 'parent_run_id'> & PageQuery,
    now: number,
  ): Promise<Page<Run>> {
    const rows = await checkedRows(
      this.#pool,
      RunRow.extend(KEYED),
      `select *, ${BY_BEGIN.key} from ${RUNS}
       where ($4::text is null or state = $4) and ($5::text is null or ancestor_run_ids[1] = $5) and ${runSeen('$6', '$7')}
         and ${BY_BEGIN.after('$8')}
       order by ${BY_BEGIN.order} limit $9`,
      [accountId, livemode, new Date(now), state ?? null, parent_run_id ?? null, ...seenValues(seen), ...BY_BEGIN.values(query)],
    );
    return mapPage(BY_BEGIN.page(rows, query), toWire);
  }

  async get({ accountId, livemode, seen }: RunScope, runId: string, now: number): Promise<Run | undefined> {
    const row = await checkedRow(this.#pool, RunRow, `select * from ${RUNS} where run_id = $4 and ${runSeen('$5', '$6')}`, [
      accountId,
      livemode,
      new Date(now),
      runId,
      ...seenValues(seen),
    ]);
    return row && toWire(row);
  }

  /** The run's own settled requests, the oldest first. */
  async steps({ accountId, livemode, seen }: RunScope, runId: string, query: PageQuery): Promise<Page<RunStep>> {
    const rows = await checkedRows(
      this.#pool,
      StepRow.extend(KEYED),
      `select request_id, endpoint, model_requested, model_served, fallback, outcome, cost_nano, receipt_id, started_at, completed_at, refunded, ${STEPS.key}
       from standing_usage where account_id = $1 and livemode = $2 and run_id = $3
         and ($4::uuid is null or user_id = $4 or project_id = any($5::uuid[])) and ${STEPS.after('$6')}
       order by ${STEPS.order} limit $7`,
      [accountId, livemode, runId, ...seenValues(seen), ...STEPS.values(query)],
    );
    return mapPage(STEPS.page(rows, query), toStep);
  }
}

const toWire = (row: RunRow): Run => ({
  run_id: row.run_id,
  parent_run_id: row.ancestor_run_ids[0] ?? null,
  livemode: row.livemode,
  state: row.state,
  ceiling_usd: row.ceiling === null ? null : formatUsd(BigInt(row.ceiling)),
  spent_usd: formatUsd(BigInt(row.spent)),
  requests: Number(row.requests),
  max_calls: row.max_calls === null ? null : Number(row.max_calls),
  calls_remaining: row.max_calls === null ? null : Math.max(0, Number(row.max_calls) - Number(row.calls)),
  deadline: row.deadline_at && rfc3339(row.deadline_at),
  started_at: rfc3339(row.begun_at),
  last_request_at: row.last_request_at && rfc3339(row.last_request_at),
  closed_at: row.closed_at && rfc3339(row.closed_at),
});

const toStep = (row: StepRow): RunStep => ({
  request_id: row.request_id,
  endpoint: row.endpoint,
  model_requested: row.model_requested,
  model_served: row.model_served,
  fallback: row.fallback,
  outcome: row.outcome,
  cost_usd: formatUsd(row.cost_nano),
  refunded: row.refunded,
  receipt_id: row.receipt_id,
  started_at: rfc3339(row.started_at),
  completed_at: rfc3339(row.completed_at),
});
