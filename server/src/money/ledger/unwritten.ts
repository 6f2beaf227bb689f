import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { JournalEntry } from '../../adapters/lanes/port.ts';
import { anyOf, rowsOf } from '../../kernel/statements.ts';
import type { Posted } from './ledger-batch.ts';
import { type PostedRecord, postingKindOf } from './settlement-record.ts';
import { tables } from './tables.ts';

/** What is booked is known by: a settlement, refund or correction is written once under it. */
export type PostingName = Pick<Posted, 'requestId' | 'attempt' | 'kind'>;

/** Which of them are not written already; of repeats among them the first one. */
export async function unknownAmong(pool: Pool, names: readonly PostingName[]): Promise<boolean[]> {
  const used = tables
    .selectFrom('usage_records')
    .select(['request_id', 'attempt', sql<string>`'usage'`.as('kind')])
    .where('request_id', '=', anyOf(idsOf(names, true)));
  const posted = tables
    .selectFrom('postings')
    .select((eb) => [
      eb.ref('request_id').$notNull().as('request_id'),
      eb.ref('attempt').$notNull().as('attempt'),
      eb.ref('kind').as('kind'),
    ])
    .where('request_id', '=', anyOf(idsOf(names, false)));
  const rows = await rowsOf(pool, used.unionAll(posted));
  const seen = new Set(rows.map(({ request_id, attempt, kind }) => `${request_id} ${attempt} ${kind}`));
  return names.map(({ requestId, attempt, kind }) => {
    const name = `${requestId} ${attempt} ${kind}`;
    const isUnknown = !seen.has(name);
    seen.add(name);
    return isUnknown;
  });
}

const idsOf = (names: readonly PostingName[], isUsage: boolean): string[] =>
  names.filter(({ kind }) => (kind === 'usage') === isUsage).map(({ requestId }) => requestId);

/** The entries that the ledger does not have. One whose record cannot be read is among them: the writer sets it aside. */
export async function unwrittenAmong(pool: Pool, entries: readonly JournalEntry[]): Promise<JournalEntry[]> {
  const names = entries.map(nameOf);
  const readable = names.filter((name) => name !== undefined);
  const isUnknown = readable.length === 0 ? [] : await unknownAmong(pool, readable);
  const unknown = new Set(readable.filter((_, index) => isUnknown[index]));
  return entries.filter((_, index) => {
    const name = names[index];
    return name === undefined || unknown.has(name);
  });
}

function nameOf({ record }: JournalEntry): PostingName | undefined {
  try {
    const read = JSON.parse(record) as PostedRecord;
    const { requestId, attempt } = read;
    return typeof requestId === 'string' && typeof attempt === 'number' ? { requestId, attempt, kind: postingKindOf(read) } : undefined;
  } catch {
    return undefined;
  }
}
