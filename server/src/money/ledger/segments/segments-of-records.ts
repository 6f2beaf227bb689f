import { dayOf } from '../../../kernel/clock.ts';
import { newId, timeOfRequestId } from '../../../kernel/ids.ts';
import type { USAGE_METERS } from '../rollup-columns.ts';
import { isCorrection, isRefund, type PostedRecord, type Repricing } from '../settlement-record.ts';
import { addExactly } from './add-exactly.ts';
import { packed, QUARTER_MS, type SegmentSum } from './segment.ts';
import { SegmentBuilder } from './segment-builder.ts';
import { type SegmentRow, segmentRow } from './segment-row.ts';

/** What the records add to `usage_segments`: a segment for each mode and each day on which their ids were made. */
export function segmentsOf(records: readonly PostedRecord[]): SegmentRow[] {
  const groups = Map.groupBy(records, ({ livemode, requestId }) => `${livemode} ${dayOf(timeOfRequestId(requestId))}`);
  return [...groups.values()].flatMap((group): SegmentRow[] => {
    const [first] = group;
    const builder = new SegmentBuilder();
    for (const record of group) addRecord(builder, record);
    const columns = builder.columns();
    if (!first || columns.quarters.length === 0) return [];
    const of = { livemode: first.livemode, accountId: null, requestDay: dayOf(timeOfRequestId(first.requestId)) };
    return [segmentRow({ segmentId: newId(), ...of, isMerged: false }, packed(columns))];
  });
}

type Counted = Pick<PostedRecord, 'outcome'> & Omit<Repricing, 'charged' | 'debt' | 'covered'> & { readonly charged: bigint | string };

/** A refund takes away what its request had added; a correction does so too, and adds what takes its place. */
function addRecord(builder: SegmentBuilder, record: PostedRecord): void {
  const key = {
    quarter: Math.floor(record.startedAt / QUARTER_MS),
    names: {
      ...{ account: record.accountId, project: record.projectId ?? '', member: record.userId ?? '', key: record.keyId ?? '' },
      ...{ model: record.modelServed, provider: record.provider, outcome: record.outcome, run: record.runId ?? '' },
      ...{ end_user: record.endUser ?? '', tags: record.tags && record.tags.length > 0 ? JSON.stringify(record.tags) : '' },
    },
  };
  if (isRefund(record)) addExactly(builder, key, negated(sumsOf(record)));
  else addExactly(builder, key, sumsOf(record));
  if (isCorrection(record)) addExactly(builder, key, negated(sumsOf(record.was)));
}

const sumsOf = ({ outcome, usage, cost, charged }: Counted): Record<SegmentSum, bigint> => {
  const meter = (name: (typeof USAGE_METERS)[number]) => BigInt(usage[name] ?? 0);
  return {
    ...{ records: 1n, requests: outcome === 'failed' ? 0n : 1n, input_tokens: BigInt(usage.input_tokens) },
    ...{ cached_input_tokens: BigInt(usage.cached_input_tokens), output_tokens: BigInt(usage.output_tokens) },
    ...{ cost_nano: BigInt(cost), charged_nano: BigInt(charged), input_characters: meter('input_characters') },
    ...{ audio_seconds: meter('audio_seconds'), video_seconds: meter('video_seconds'), images: meter('images') },
  };
};

const negated = (sums: Record<SegmentSum, bigint>): Record<SegmentSum, bigint> =>
  Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, -value])) as Record<SegmentSum, bigint>;
