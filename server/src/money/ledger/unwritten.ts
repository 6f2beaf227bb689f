import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { JournalEntry } from '../../adapters/lanes/port.ts';
import { type Archive, USAGE_RECORDS } from '../../archive/index.ts';
import { anyOf, prepared, rowsOf } from '../../kernel/statements.ts';
import type { Posted } from './ledger-batch.ts';
import { receiptIdOf } from './receipt-facts.ts';
import { type PostedRecord, postingKindOf } from './settlement-record.ts';
import { tables } from './tables.ts';

/**
 * What is booked is known by: a settlement, refund or correction is written once under its attempt, and a settlement once under its receipt as
 * well: the attempt of a running call rises when it is handed over to another provider, and a journal may still have the one before.
 */
export type PostingName = Pick<Posted, 'requestId' | 'attempt' | 'kind' | 'receiptId'>;

/** All that was ever settled. */
export interface LedgerRecords {
  readonly pool: Pool;
  /** Of months that have left the database. */
  readonly archive: Archive;
}

/**
 * Which of them are not written already; of repeats among them the first one.
 * @throws DamagedArchive where the archive cannot say it
 */
export async function unknownAmong({ pool, archive }: LedgerRecords, names: readonly PostingName[]): Promise<boolean[]> {
  const used = tables
    .selectFrom('usage_records')
    .select((eb) => [
      'request_id',
      'attempt',
      sql<string>`'usage'`.as('kind'),
      eb.ref('receipt_id').$castTo<string | null>().as('receipt_id'),
    ])
    .where('request_id', '=', anyOf(idsOf(names, true)));
  const posted = tables
    .selectFrom('postings')
    .select((eb) => [
      eb.ref('request_id').$notNull().as('request_id'),
      eb.ref('attempt').$notNull().as('attempt'),
      eb.ref('kind').as('kind'),
      sql<string | null>`null::uuid`.as('receipt_id'),
    ])
    .where('request_id', '=', anyOf(idsOf(names, false)));
  const rows = await rowsOf(prepared(pool, 'written among'), used.unionAll(posted));
  const seen = new Set(rows.flatMap(namesOf));
  // After the database: a month that is archived meanwhile was found there, or is found here.
  for (const archived of await archive.rowsAmong(USAGE_RECORDS, idsOf(names, true)))
    for (const row of JSON.parse(archived) as ArchivedName[]) for (const name of namesOf({ ...row, kind: 'usage' })) seen.add(name);
  return names.map(({ requestId: request_id, attempt, kind, receiptId: receipt_id }) => {
    const own = namesOf({ request_id, attempt, kind, receipt_id });
    const isUnknown = own.every((name) => !seen.has(name));
    if (isUnknown) for (const name of own) seen.add(name);
    return isUnknown;
  });
}

interface NamedRow {
  readonly request_id: string;
  readonly attempt: number;
  readonly kind: string;
  /** Null for a refund or correction, which nothing but its attempt names. */
  readonly receipt_id: string | null;
}

const namesOf = ({ request_id, attempt, kind, receipt_id }: NamedRow): string[] => [
  `${request_id} ${attempt} ${kind}`,
  ...(kind === 'usage' && receipt_id !== null ? [receipt_id] : []),
];

type ArchivedName = Omit<NamedRow, 'kind'>;

const idsOf = (names: readonly PostingName[], isUsage: boolean): string[] =>
  names.filter(({ kind }) => (kind === 'usage') === isUsage).map(({ requestId }) => requestId);

/** The entries that the ledger does not have. One whose record cannot be read is among them: the writer sets it aside. */
export async function unwrittenAmong(records: LedgerRecords, entries: readonly JournalEntry[]): Promise<JournalEntry[]> {
  const names = entries.map(nameOf);
  const readable = names.filter((name) => name !== undefined);
  const isUnknown = readable.length === 0 ? [] : await unknownAmong(records, readable);
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
    if (typeof requestId !== 'string' || typeof attempt !== 'number') return undefined;
    return { requestId, attempt, kind: postingKindOf(read), receiptId: receiptIdOf(read) };
  } catch {
    return undefined;
  }
}
