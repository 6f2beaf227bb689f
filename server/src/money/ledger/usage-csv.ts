import { csvRow } from '../../kernel/csv-row.ts';
import { formatUsd } from '../../kernel/money.ts';
import { type GroupRow, groupFields } from './usage-groups.ts';
import type { UsageQuestion } from './usage-sources.ts';

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

const PAGE_ROWS = 10_000;

export const csvHead = (question: UsageQuestion): string => csvRow(['from', 'to', ...groupFields(question), ...Object.keys(FIGURES)]);

export function csvOfGroup(question: UsageQuestion, row: GroupRow): string {
  const { from, to, groups, per } = question;
  const names = [row.g0, row.g1].slice(0, groups.length);
  const cells = (per ? [row.period, ...names] : names).map((name) => name ?? '');
  return csvRow([from, to, ...cells, ...Object.values(FIGURES).map((figure) => figure(row))]);
}

/** The lines of groups, some thousands together. */
export function* csvPages(question: UsageQuestion, rows: Iterable<GroupRow>): Generator<Uint8Array<ArrayBuffer>> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(csvOfGroup(question, row));
    if (lines.length < PAGE_ROWS) continue;
    yield bytesOf(lines);
    lines = [];
  }
  if (lines.length > 0) yield bytesOf(lines);
}

const encoder = new TextEncoder();
const bytesOf = (lines: readonly string[]) => encoder.encode(lines.join(''));
