import type { AdminUsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { WalkRows } from '../../kernel/walk-rows.ts';
import { segmentsFor } from './segments/read-usage.ts';
import { groupsAsCsv } from './segments/summed-usage.ts';
import { csvHead, csvOfGroup } from './usage-csv.ts';
import { GroupRow, keysOf, namesOf, SUMS, WRITTEN } from './usage-groups.ts';
import { questionOf, type UsageScope } from './usage-question.ts';
import { sourceInDays, type UsageQuestion, type UsageSource } from './usage-sources.ts';

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
export async function exportUsage(deps: ExportDeps, scope: UsageScope, query: AdminUsageQuery, now: number): Promise<UsageFile> {
  const question = await questionOf(deps.pool, scope, query, now);
  return { name: fileNameOf(question), text: csvOf(deps, question) };
}

async function* csvOf({ pool, walkRows }: ExportDeps, question: UsageQuestion): AsyncGenerator<string, void, undefined> {
  const source = sourceInDays(question);
  const pages = source ? undefined : await groupsAsCsv(question, await segmentsFor(pool, question));
  yield csvHead(question);
  for (const page of pages ?? []) yield decoder.decode(page);
  if (source)
    for await (const rows of walkRows({ row: GroupRow, ...allGroups(question, source) }))
      yield rows.map((row) => csvOfGroup(question, row)).join('');
}

const decoder = new TextDecoder();

function allGroups(question: UsageQuestion, { rows, values }: UsageSource): { text: string; values: unknown[] } {
  const keys = keysOf(question);
  const text = `select ${namesOf(question)}, ${WRITTEN} from (select ${keys}, ${SUMS} from (${rows}) of_rows group by ${keys}) summed order by ${keys}`;
  return { text, values };
}

const fileNameOf = ({ from, to, groups, per }: UsageQuestion): string =>
  `${['usage', ...(groups.length > 0 ? ['by', ...groups] : []), ...(per ? [`per-${per}`] : []), from, to].join('-')}.csv`;
