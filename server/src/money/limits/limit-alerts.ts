import type { PoolClient } from 'pg';
import * as z from 'zod';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd, minOf, type NanoUsd } from '../../kernel/money.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { recordEvent } from '../../webhooks/index.ts';
import { type LaneSpent, laneSpentOn, markAlerted, nameOfRun, runCeilings, windowStartOf } from '../ledger/index.ts';
import { mailLimitAlert } from './limit-mails.ts';
import { readLimitLane } from './limit-refusals.ts';
import { windowAt } from './period.ts';

const LimitRow = z.object({
  account_id: z.string(),
  kind: z.string(),
  subject: z.string().nullable(),
  period: z.string(),
  /** Null: counted, not capped. */
  cap: z.string().transform(BigInt).nullable(),
  alert_thresholds: z.array(z.number()),
  time_zone: z.string(),
});
type LimitRow = z.infer<typeof LimitRow>;

interface Counted {
  readonly accountId: string;
  /** The lanes of limits that it was held on. */
  readonly limitLanes: readonly string[];
}

/**
 * Tells webhooks of shares of caps that a batch of settlements reached, in the transaction that books them and after it summed them up. Each is
 * told once a window; of several that are reached at once the highest. One transaction at a time writes the ledger.
 */
export async function recordLimitAlerts(client: PoolClient, settled: readonly Counted[]): Promise<void> {
  const counted = settled.filter(({ limitLanes }) => limitLanes.length > 0);
  if (counted.length === 0) return;
  const limits = await limitsOf(client, [...new Set(counted.map(({ accountId }) => accountId))]);
  if (limits.length === 0) return;
  const lanes = await laneSpentOn(client, [...new Set(counted.flatMap(({ limitLanes }) => limitLanes))]);
  const ceilings = await runCeilings(client, lanes.flatMap(wholeRunOf));
  for (const lane of lanes) {
    const limit = limitOn(lane, limits);
    if (!limit) continue;
    const { alert_thresholds, time_zone } = limit;
    const cap = capOn(lane, limit, ceilings);
    // A cap of zero has no shares.
    if (!cap) continue;
    const reached = highestReached(alert_thresholds, lane.spent, cap);
    if (reached !== undefined && reached > lane.alerted_percent)
      await tell(client, lane, { cap, time_zone, threshold: reached, isMailed: isMailed(limit) });
  }
}

/** The run whose whole spending a lane counts; none for other lanes. */
function wholeRunOf({ lane_id }: LaneSpent) {
  const { accountId, livemode, kind, period, subject } = readLimitLane(lane_id);
  return kind === 'run' && period === 'lifetime' && subject !== null ? [{ accountId, livemode, runId: subject }] : [];
}

/** What its spending is a share of: the cap of the limit, or of a whole run the run's own ceiling where that is lower. */
function capOn(lane: LaneSpent, { cap }: LimitRow, ceilings: ReadonlyMap<string, NanoUsd>): NanoUsd | null {
  const ceiling = wholeRunOf(lane).map((run) => ceilings.get(nameOfRun(run)))[0];
  return ceiling === undefined ? cap : cap === null ? ceiling : minOf(cap, ceiling);
}

const limitsOf = (db: Queryable, accounts: readonly string[]): Promise<LimitRow[]> =>
  checkedRows(
    db,
    LimitRow,
    `select l.account_id, l.kind, l.subject, l.period, l.cap_nano::text as cap, l.alert_thresholds, a.time_zone
       from limits l join accounts a on a.id = l.account_id
      where l.account_id = any($1)`,
    [accounts],
  );

/** Its own before that of each of its kind, as at admission. */
function limitOn({ lane_id }: LaneSpent, limits: readonly LimitRow[]): LimitRow | undefined {
  const { accountId, kind, period, subject } = readLimitLane(lane_id);
  const ofKind = limits.filter((limit) => limit.account_id === accountId && limit.kind === kind && limit.period === period);
  return ofKind.find((limit) => limit.subject === subject) ?? ofKind.find((limit) => limit.subject === null);
}

const highestReached = (thresholds: readonly number[], spent: NanoUsd, cap: NanoUsd): number | undefined =>
  thresholds.filter((threshold) => spent * 100n >= cap * BigInt(threshold)).at(-1);

/** Of a limit of each there may be thousands, and every hour is soon over: webhooks alone are told of those. */
const isMailed = ({ kind, subject, period }: LimitRow): boolean => (kind === 'account' || subject !== null) && period !== 'hour';

interface Reached {
  readonly cap: NanoUsd;
  readonly time_zone: string;
  /** Percent of the cap. */
  readonly threshold: number;
  readonly isMailed: boolean;
}

async function tell(client: PoolClient, { lane_id, spent }: LaneSpent, { cap, time_zone, threshold, isMailed }: Reached): Promise<void> {
  if (!(await markAlerted(client, lane_id, threshold))) return;
  const { accountId, ...lane } = readLimitLane(lane_id);
  const start = windowStartOf(lane_id);
  const end = start === undefined ? null : windowAt(lane.period, time_zone, start).end;
  const figures = { spent_usd: formatUsd(spent), cap_usd: formatUsd(cap), resets_at: end === null ? null : rfc3339(end) };
  const data = { ...lane, ...figures, threshold_percent: threshold };
  await recordEvent(client, { accountId, type: 'limit.threshold_reached', data });
  // Nobody is told of money that is none.
  if (isMailed && lane.livemode) await mailLimitAlert(client, { accountId, about: `limit:${lane_id}:${cap}:${threshold}`, data });
}
