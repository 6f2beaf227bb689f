import * as z from 'zod';
import { checkedRow, checkedRows, type Queryable } from '../../kernel/statements.ts';
import { type LimitLane, laneId } from './lane-ids.ts';

/** Where a settled request says whom it was of: the columns of `usage_records`. */
const SUBJECT = {
  account: "''",
  project: 'r.project_id::text',
  member: 'r.user_id::text',
  key: 'r.key_id::text',
  run: 'run',
  end_user: 'r.end_user',
  tag: 'tag',
  model: 'r.model_served',
} as const;

/** Where one request is of several: of its tags, and of its run with every run above it. */
const EACH: Readonly<Partial<Record<keyof typeof SUBJECT, string>>> = {
  tag: 'cross join lateral unnest(r.tags) as tag',
  run: 'cross join lateral unnest(r.run_id || r.ancestor_run_ids) as run',
};

export interface Counting extends Pick<LimitLane, 'accountId' | 'period' | 'start'> {
  readonly kind: keyof typeof SUBJECT;
  /** Null: each of the kind. */
  readonly subject: string | null;
  /** When the window ends, epoch milliseconds; null for one without an end. */
  readonly end: number | null;
}

/**
 * Sets the lanes of a limit that is new to what the ledger has of their window. Requests that are running now do not name them yet, and are
 * not counted. In a transaction: the writer of the ledger waits for its end, so that nothing is counted twice or missed in between.
 */
export async function countSpent(db: Queryable, { accountId, kind, subject, period, start, end }: Counting): Promise<void> {
  await db.query('lock table lane_spend in share row exclusive mode');
  const prefix = (livemode: boolean) => laneId.limit({ accountId, livemode, period, start, kind, subject: '' });
  await db.query(
    `insert into lane_spend (lane_id, spent_nano, before_nano)
     select lane_id, sum(cost), coalesce(sum(cost) filter (where not coalesce(lane_id = any(limit_lanes), false)), 0)
     from (
       select case when r.livemode then $2 else $3 end || ${SUBJECT[kind]} as lane_id, r.limit_lanes,
         case when r.refunded then 0 else r.cost_nano end as cost
       from standing_usage r ${EACH[kind] ?? ''}
       where r.account_id = $1 and ${SUBJECT[kind]} is not null and ($4::text is null or ${SUBJECT[kind]} = $4)
         and ($5::timestamptz is null or r.started_at >= $5) and ($6::timestamptz is null or r.started_at < $6)
     ) as settled
     group by lane_id
     on conflict (lane_id) do update set spent_nano = excluded.spent_nano, before_nano = excluded.before_nano`,
    [accountId, prefix(true), prefix(false), subject, timeOf(start), timeOf(end)],
  );
}

const SpentRow = z.object({ lane_id: z.string(), spent: z.string().transform(BigInt), alerted_percent: z.number() });

/** What is settled on lanes of limits, and the highest share of a cap that was told of each. */
export type LaneSpent = z.infer<typeof SpentRow>;

export const laneSpentOn = (db: Queryable, laneIds: readonly string[]): Promise<LaneSpent[]> =>
  checkedRows(
    db,
    SpentRow,
    'select lane_id, spent_nano::text as spent, alerted_percent from lane_spend where lane_id = any($1) order by lane_id',
    [laneIds],
  );

const MarkedRow = z.object({ lane_id: z.string() });

/** Of one lane and share once. @returns whether it was not told of before */
export async function markAlerted(db: Queryable, laneId: string, percent: number): Promise<boolean> {
  const marked = await checkedRow(
    db,
    MarkedRow,
    'update lane_spend set alerted_percent = $2 where lane_id = $1 and alerted_percent < $2 returning lane_id',
    [laneId, percent],
  );
  return marked !== undefined;
}

const timeOf = (at: number | null): Date | null => (at === null ? null : new Date(at));
