import type { Pool, PoolClient } from 'pg';
import { tryLockUntilEnd } from '../../kernel/advisory-lock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { tables } from './tables.ts';
import { DESCRIBED, termsOf } from './terms.ts';

/** How many neighbours share a row of `people_chunks`: the length of its bits. */
export const CHUNK = 2_048;
/** Per transaction, in the background: some eight chunks if people were added one after the other. */
const NOTES_AT_ONCE = 16_384;

/** SQL: whether there is something for {@link indexPeople}. */
export const PEOPLE_UNINDEXED = 'exists (select from people_unindexed)';

/** Writes the chunks of everybody who changed. One process at a time; the others leave it to that one. */
export async function indexPeople(pool: Pool, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await inTransaction(pool, indexSome)));
}

/** @returns whether there may be more */
async function indexSome(client: PoolClient): Promise<boolean> {
  if (!(await tryLockUntilEnd(client, 'people:index'))) return false;
  const notes = await rowsOf(client, tables.selectFrom('people_unindexed').select(['id', 'n']).orderBy('id').limit(NOTES_AT_ONCE));
  // Read after the notes: a later change leaves a note that is not among them.
  for (const chunk of new Set(notes.map(({ n }) => n / BigInt(CHUNK)))) await writeChunk(client, chunk);
  await client.query('delete from people_unindexed where id = any($1::bigint[])', [notes.map(({ id }) => id)]);
  return notes.length === NOTES_AT_ONCE;
}

async function writeChunk(client: PoolClient, chunk: bigint): Promise<void> {
  const first = chunk * BigInt(CHUNK);
  const rows = await rowsOf(
    client,
    tables
      .selectFrom('people')
      .select('n')
      .select(DESCRIBED)
      .where('n', '>=', first)
      .where('n', '<', first + BigInt(CHUNK)),
  );
  const bits = new Map<string, Buffer>();
  for (const person of rows) {
    const at = Number(person.n - first);
    for (const term of termsOf(person)) {
      const own = bits.get(term) ?? Buffer.alloc(CHUNK / 8);
      bits.set(term, own);
      own[at >> 3] = (own[at >> 3] ?? 0) | (0x80 >> (at & 7));
    }
  }
  const terms = [...bits.keys()];
  await client.query('delete from people_chunks where chunk = $1 and term <> all ($2::text[])', [chunk, terms]);
  await client.query(
    `insert into people_chunks (term, chunk, bits) select term, $1, bits from unnest($2::text[], $3::bit(${CHUNK})[]) as new (term, bits)
     on conflict (term, chunk) do update set bits = excluded.bits where people_chunks.bits <> excluded.bits`,
    [chunk, terms, [...bits.values()].map((own) => `x${own.toString('hex')}`)],
  );
}
