import { dayOf, rfc3339 } from '../../kernel/clock.ts';
import { runsOf } from './lanes-of-record.ts';
import type { Posting } from './postings.ts';
import { NO_ID } from './rollup-columns.ts';
import { isCorrection, isRefund, type PostedRecord, type RefundedRecord, type SettledRecord } from './settlement-record.ts';

type Counted = Pick<SettledRecord | RefundedRecord, 'outcome' | 'usage' | 'cost' | 'charged' | 'covered'>;

/** A refund takes away what its request had added; a correction does so too, and adds what takes its place. */
const sumOf = (records: readonly PostedRecord[], value: (record: Counted) => bigint | number): string =>
  records
    .reduce((sum, record) => {
      if (isCorrection(record)) return sum + BigInt(value(record)) - BigInt(value(record.was));
      return sum + BigInt(value(record)) * (isRefund(record) ? -1n : 1n);
    }, 0n)
    .toString();

/**
 * What the records add to `usage_daily`. A request belongs to the day it started on, its refund too; one that got no answer is not counted
 * as a request, nor is one whose money was given back.
 */
export function dailyUsage(records: readonly PostedRecord[]) {
  return groupsOf(records, dayKey).map(({ first, group }) => ({
    ...dayOfUsage(first),
    ...usageSums(group),
    covered_images: sumOf(group, (record) => record.covered['images'] ?? 0n),
    covered_audio_seconds: sumOf(group, (record) => record.covered['audio_seconds'] ?? 0n),
    covered_video_seconds: sumOf(group, (record) => record.covered['video_seconds'] ?? 0n),
    covered_requests: sumOf(group, (record) => record.covered['requests'] ?? 0n),
    covered_tokens: sumOf(group, (record) => record.covered['tokens'] ?? 0n),
  }));
}

/** What the records add to `usage_runs_daily`: the same for each run, of requests that are in one. */
export function dailyUsageOfRuns(records: readonly PostedRecord[]) {
  const inRuns = records.filter(({ runId }) => runId !== null);
  return groupsOf(inRuns, (record) => `${detailKey(record)} ${record.runId}`).map(({ first, group }) => ({
    ...dayOfUsage(first),
    ...detailsOf(first),
    run_id: first.runId,
    ...usageSums(group),
  }));
}

/** What the records add to `usage_details_daily`: the same for each provider, outcome, project and member. */
export function dailyUsageDetails(records: readonly PostedRecord[]) {
  return groupsOf(records, detailKey).map(({ first, group }) => ({ ...dayOfUsage(first), ...detailsOf(first), ...usageSums(group) }));
}

const detailKey = (record: PostedRecord): string =>
  [dayKey(record), record.provider, record.outcome, record.projectId, record.userId].join(' ');

const detailsOf = (record: PostedRecord) => ({
  provider: record.provider,
  outcome: record.outcome,
  project_id: record.projectId ?? NO_ID,
  user_id: record.userId ?? NO_ID,
});

function groupsOf(records: readonly PostedRecord[], keyOf: (record: PostedRecord) => string) {
  return [...Map.groupBy(records, keyOf).values()].flatMap((group) => (group[0] ? { first: group[0], group } : []));
}

const dayKey = (record: PostedRecord): string =>
  [record.accountId, record.livemode, dayOf(record.startedAt), record.keyId ?? NO_ID, record.modelServed].join(' ');

const dayOfUsage = (record: PostedRecord) => ({
  account_id: record.accountId,
  livemode: record.livemode,
  day: dayOf(record.startedAt),
  key_id: record.keyId ?? NO_ID,
  model: record.modelServed,
});

const usageSums = (group: readonly PostedRecord[]) => ({
  requests: sumOf(group, (record) => (record.outcome === 'failed' ? 0 : 1)),
  input_tokens: sumOf(group, (record) => record.usage.input_tokens),
  cached_input_tokens: sumOf(group, (record) => record.usage.cached_input_tokens),
  output_tokens: sumOf(group, (record) => record.usage.output_tokens),
  cost_nano: sumOf(group, (record) => BigInt(record.cost)),
  charged_nano: sumOf(group, (record) => record.charged),
  input_characters: sumOf(group, (record) => record.usage.input_characters ?? 0),
  audio_seconds: sumOf(group, (record) => record.usage.audio_seconds ?? 0),
  video_seconds: sumOf(group, (record) => record.usage.video_seconds ?? 0),
  images: sumOf(group, (record) => record.usage.images ?? 0),
});

/** What the postings add to `ledger_daily`. */
export function ledgerDays(postings: readonly Posting[]) {
  const sums = new Map<string, { account: string; day: string; amount: bigint }>();
  for (const { day, entries } of postings) {
    for (const { account, amount } of entries) {
      const sum = sums.get(`${account} ${day}`) ?? { account, day, amount: 0n };
      sum.amount += amount;
      sums.set(`${account} ${day}`, sum);
    }
  }
  return [...sums.values()].map(({ account, day, amount }) => ({ account, day, amount_nano: amount.toString() }));
}

/**
 * What the records add to `agent_runs`: each to its own run and to every run above it, as their lanes have it. Ceilings come by themselves:
 * a run may have one before anything of it is settled.
 */
export function runTotals(records: readonly PostedRecord[]) {
  const inRuns = records.flatMap((record) => runsOf(record).map((runId) => ({ runId, record })));
  const groups = Map.groupBy(inRuns, ({ runId, record }) => [record.accountId, record.livemode, runId].join(' '));
  return [...groups.values()].flatMap((members) => {
    const [first] = members;
    if (!first) return [];
    const group = members.map(({ record }) => record);
    return {
      account_id: first.record.accountId,
      livemode: first.record.livemode,
      run_id: first.runId,
      ceiling_nano: null,
      spent_nano: sumOf(group, (record) => BigInt(record.cost)),
      // The calls were made, even if their money was given back.
      requests: group.filter((record) => !isRefund(record) && !isCorrection(record)).length.toString(),
      first_request_at: rfc3339(Math.min(...group.map((record) => record.startedAt))),
      last_request_at: rfc3339(Math.max(...group.map((record) => record.startedAt))),
    };
  });
}

/** What the records add to `lane_spend`: each to every lane of a limit that it was held on. */
export function laneSpend(records: readonly PostedRecord[]) {
  const onLanes = records.flatMap((record) => (record.limitLanes ?? []).map((lane) => ({ lane, record })));
  return [...Map.groupBy(onLanes, ({ lane }) => lane)].map(([lane_id, members]) => ({
    lane_id,
    spent_nano: sumOf(
      members.map(({ record }) => record),
      (record) => BigInt(record.cost),
    ),
  }));
}
