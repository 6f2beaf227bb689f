import type { AdminUsageQuery } from '@tallygate/contract';
import type { Pool } from 'pg';
import { csvRow } from '../../kernel/csv-row.ts';
import type { WalkRows } from '../../kernel/walk-rows.ts';
import { focusCharges } from './focus-charges.ts';
import { FOCUS_COLUMNS, focusRow } from './focus-columns.ts';
import { FocusGroup, focusGroups } from './focus-source.ts';
import type { UsageFile } from './usage-export.ts';
import { requestsQuestionOf, type UsageScope } from './usage-question.ts';
import type { UsageQuestion } from './usage-sources.ts';

/**
 * Usage as a FOCUS 1.2 dataset: a row for each group of requests that are charged alike and each meter of theirs.
 * @throws Problem `validation_failed` for a range that is reversed, too long or archived, and for groups
 */
export async function exportFocus(
  { pool, walkRows }: { readonly pool: Pool; readonly walkRows: WalkRows },
  scope: UsageScope,
  query: AdminUsageQuery,
  now: number,
): Promise<UsageFile> {
  const question = await requestsQuestionOf(pool, scope, query, now);
  const { from, to, per } = question;
  return { name: `usage-focus-per-${per}-${from}-${to}.csv`, text: csvOf(walkRows, question) };
}

async function* csvOf(walkRows: WalkRows, question: UsageQuestion): AsyncGenerator<string, void, undefined> {
  const hours = question.per === 'hour' ? 1 : 24;
  yield csvRow(FOCUS_COLUMNS);
  for await (const groups of walkRows({ row: FocusGroup, ...focusGroups(question) }))
    yield groups.flatMap((group) => focusCharges(group).map((charge) => csvRow(focusRow(charge, hours)))).join('');
}
