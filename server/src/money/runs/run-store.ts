import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { checkedRows, firstOf, type Queryable, type RowOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { laneId } from '../ledger/index.ts';
import type { AgentRunBound } from './entities.ts';
import type { RunBounds, RunOwner, RunWish } from './run.ts';
import { tables } from './tables.ts';

/** What every instance listens to: `changed <lane of the run>` or `closed <lane of the run>`. */
export const RUNS_CHANNEL = 'tallygate_runs';

/** One run's calls after a call was counted, or refused. */
export interface RunCalls {
  readonly runId: string;
  readonly calls: number;
  readonly maxCalls: number | null;
}

export interface CountedCall {
  /** False: some run of the chain has made all its calls, and nothing was counted on any. */
  readonly counted: boolean;
  readonly runs: readonly RunCalls[];
}

/** What a run may do, in PostgreSQL. */
export interface RunStore {
  read(owner: RunOwner, runId: string): Promise<RunBounds | undefined>;
  /** Writes the run down, unless somebody else was faster: their word counts. */
  begin(wish: RunWish, ancestors: readonly string[], now: number): Promise<void>;
  tighten(wish: RunWish): Promise<void>;
  /** Counts one call on every run of the chain, or on none. */
  countCall(owner: RunOwner, chain: readonly string[]): Promise<CountedCall>;
  /** Takes a counted call back that was never made. */
  uncountCall(owner: RunOwner, chain: readonly string[]): Promise<void>;
  /**
   * Closes the run and all runs below it. False when it was closed before; undefined when there is none.
   * @param alongside written in the same transaction, when this closes it
   */
  close(owner: RunOwner, runId: string, now: number, alongside: (db: Queryable) => Promise<void>): Promise<boolean | undefined>;
}

type BoundsRow = Pick<RowOf<typeof AgentRunBound>, 'run_id' | 'ancestor_run_ids' | 'max_calls' | 'deadline_at' | 'closed_at'>;

const boundsOf = ({ accountId, livemode }: RunOwner, runId: string) =>
  tables.selectFrom('agent_run_bounds').where('account_id', '=', accountId).where('livemode', '=', livemode).where('run_id', '=', runId);

const OF_RUN = 'account_id = $1 and livemode = $2 and run_id = $3';
const Counted = z.object({ counted: z.boolean(), run_id: z.string(), calls: z.bigint(), max_calls: z.bigint().nullable() });

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at));

export function createRunStore(pool: Pool): RunStore {
  return {
    async read(owner, runId) {
      const columns = ['run_id', 'ancestor_run_ids', 'max_calls', 'deadline_at', 'closed_at'] as const;
      const row = await firstOf(pool, boundsOf(owner, runId).select(columns));
      return row && toBounds(row);
    },

    async begin({ accountId, livemode, runId, maxCalls, deadlineAt }, ancestors, now) {
      await pool.query(
        `insert into agent_run_bounds (account_id, livemode, run_id, ancestor_run_ids, max_calls, calls, deadline_at, begun_at)
         values ($1, $2, $3, $4, $5, 0, $6, $7) on conflict do nothing`,
        [accountId, livemode, runId, ancestors, maxCalls, dateOf(deadlineAt), new Date(now)],
      );
    },

    async tighten({ accountId, livemode, runId, maxCalls, deadlineAt }) {
      await pool.query(
        `with tightened as (
           update agent_run_bounds b set
             -- Named by a later request only: the calls before it count as far as they are settled.
             calls = case when b.max_calls is null and $4::bigint is not null
               then greatest(b.calls, coalesce((select requests from agent_runs where ${OF_RUN}), 0)) else b.calls end,
             max_calls = least(b.max_calls, $4), deadline_at = least(b.deadline_at, $5)
           where ${OF_RUN} returning 1)
         select pg_notify($6, $7) from tightened`,
        [accountId, livemode, runId, maxCalls, dateOf(deadlineAt), RUNS_CHANNEL, `changed ${laneId.run(accountId, livemode, runId)}`],
      );
    },

    async countCall({ accountId, livemode }, chain) {
      const rows = await checkedRows(pool, Counted, 'select counted, run_id, calls, max_calls from count_run_call($1, $2, $3)', [
        ...[accountId, livemode, chain],
      ]);
      return {
        counted: rows[0]?.counted ?? false,
        runs: rows.map(({ run_id, calls, max_calls }) => ({
          runId: run_id,
          calls: Number(calls),
          maxCalls: max_calls === null ? null : Number(max_calls),
        })),
      };
    },

    async uncountCall({ accountId, livemode }, chain) {
      await pool.query(
        `with locked as (
           select run_id from agent_run_bounds where account_id = $1 and livemode = $2 and run_id = any($3) order by run_id for update)
         update agent_run_bounds b set calls = greatest(b.calls - 1, 0) from locked l
         where b.account_id = $1 and b.livemode = $2 and b.run_id = l.run_id`,
        [accountId, livemode, chain],
      );
    },

    async close(owner, runId, now, alongside) {
      const { accountId, livemode } = owner;
      return inTransaction(pool, async (client) => {
        const isNew = await closeIn(client, owner, runId, new Date(now));
        if (isNew) {
          await alongside(client);
          // Whatever runs below it is known to hang on it, so one message does.
          await client.query('select pg_notify($1, $2)', [RUNS_CHANNEL, `closed ${laneId.run(accountId, livemode, runId)}`]);
        }
        return isNew;
      });
    },
  };
}

async function closeIn(client: PoolClient, owner: RunOwner, runId: string, now: Date): Promise<boolean | undefined> {
  const run = await firstOf(client, boundsOf(owner, runId).select('closed_at').forUpdate());
  if (!run) return undefined;
  if (run.closed_at) return false;
  await client.query(
    `update agent_run_bounds set closed_at = $4
     where account_id = $1 and livemode = $2 and (run_id = $3 or ancestor_run_ids @> array[$3]) and closed_at is null`,
    [owner.accountId, owner.livemode, runId, now],
  );
  return true;
}

const toBounds = ({ run_id, ancestor_run_ids, max_calls, deadline_at, closed_at }: BoundsRow): RunBounds => ({
  runId: run_id,
  ancestors: ancestor_run_ids,
  maxCalls: max_calls === null ? null : Number(max_calls),
  deadlineAt: deadline_at?.getTime() ?? null,
  closedAt: closed_at?.getTime() ?? null,
});
