import type { AdminUsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import { csvRow } from '../../kernel/csv-row.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { WalkRows } from '../../kernel/walk-rows.ts';
import { GroupRow, groupFields, keysOf, NAMES, namesOf, restOf, SUMS, WRITTEN } from './usage-groups.ts';
import { questionOf, type UsageScope } from './usage-question.ts';
import { type UsageQuestion, usageSource } from './usage-sources.ts';

/** What the file has of each group, in its order: the names of the API. */
const FIGURES = {
  requests: ({ requests }) => requests,
  input_tokens: (row) => row.input_tokens,
  cached_input_tokens: (row) => row.cached_input_tokens,
  output_tokens: (row) => row.output_tokens,
  input_characters: (row) => row.input_characters,
  audio_seconds: (row) => row.audio_seconds,
  video_seconds: (row) => row.video_seconds,
  images: ({ images }) => images,
  cost_usd: (row) => formatUsd(BigInt(row.cost_nano)),
  charged_usd: (row) => formatUsd(BigInt(row.charged_nano)),
} as const satisfies Record<string, (row: GroupRow) => string>;

export interface UsageFile {
  readonly name: string;
  /** Pieces of it, as they are read. */
  readonly text: AsyncGenerator<string, void, undefined>;
}

interface ExportDeps {
  readonly pool: Pool;
  readonly walkRows: WalkRows;
}

/**
 * All groups of usage as CSV, in the order of their names.
 * @throws Problem `validation_failed` for a range that is reversed or too long
 */
export async function exportUsage(
  { pool, walkRows }: ExportDeps,
  scope: UsageScope,
  query: AdminUsageQuery,
  now: number,
): Promise<UsageFile> {
  const question = await questionOf(pool, scope, query, now);
  return { name: fileNameOf(question), text: csvOf(walkRows, question) };
}

async function* csvOf(walkRows: WalkRows, question: UsageQuestion): AsyncGenerator<string, void, undefined> {
  const { from, to } = question;
  const figures = Object.values(FIGURES);
  yield csvRow(['from', 'to', ...groupFields(question), ...Object.keys(FIGURES)]);
  for await (const rows of walkRows({ row: GroupRow, ...allGroups(question) }))
    yield rows.map((row) => csvRow([from, to, ...groupsOf(question, row), ...figures.map((figure) => figure(row))])).join('');
}

function allGroups(question: UsageQuestion): { text: string; values: unknown[] } {
  const { base, rows, rest, values } = usageSource(question);
  const keys = keysOf(question);
  const first = [base, rest && restOf(keys, rest)].filter((part) => part !== undefined);
  const text = `${first.length > 0 ? `with ${first.join()}` : ''}
    select ${namesOf(question)}, ${WRITTEN} from (
      select ${keys}, ${SUMS} from (${rows}) of_rows group by ${keys}
      ${rest ? `union all select ${keys}, ${NAMES} from rest` : ''}
    ) summed order by ${keys}`;
  return { text, values };
}

function groupsOf({ per, groups }: UsageQuestion, { period, g0, g1 }: GroupRow): string[] {
  const names = [g0, g1].slice(0, groups.length);
  return (per ? [period, ...names] : names).map((name) => name ?? '');
}

const fileNameOf = ({ from, to, groups, per }: UsageQuestion): string =>
  `${['usage', ...(groups.length > 0 ? ['by', ...groups] : []), ...(per ? [`per-${per}`] : []), from, to].join('-')}.csv`;
