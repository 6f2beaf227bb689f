import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../kernel/transaction.ts';
import { DESCRIBED, type Described, termsOf } from './terms.ts';

/** How many neighbours share a row of `people_chunks`: the length of its bits. */
export const CHUNK = 2_048;
/** Of one transaction, which nobody waits for: some eight chunks where people came in one after the other. */
const NOTES_AT_ONCE = 16_384;

/** SQL: whether there is something for {@link indexPeople}. */
export const PEOPLE_UNINDEXED = 'exists (select from people_unindexed)';

/** Writes the chunks of everybody who changed. One process at a time; the others leave it to that one. */
export async function indexPeople(pool: Pool, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await inTransaction(pool, indexSome)));
}

/** @returns whether there may be more */
async function indexSome(client: PoolClient): Promise<boolean> {
  const { rows: locks } = await client.query("select pg_try_advisory_xact_lock(hashtextextended('people:index', 0)) as is_ours");
  if (!locks[0]?.is_ours) return false;
  const { rows: notes } = await client.query<{ id: bigint; n: bigint }>('select id, n from people_unindexed order by id limit $1', [
    NOTES_AT_ONCE,
  ]);
  // Read after the notes: whoever changes from here on leaves a note that is not among them.
  for (const chunk of new Set(notes.map(({ n }) => n / BigInt(CHUNK)))) await writeChunk(client, chunk);
  await client.query('delete from people_unindexed where id = any($1::bigint[])', [notes.map(({ id }) => id)]);
  return notes.length === NOTES_AT_ONCE;
}

async function writeChunk(client: PoolClient, chunk: bigint): Promise<void> {
  const first = chunk * BigInt(CHUNK);
  const { rows } = await client.query<Described & { n: bigint }>(`select ${DESCRIBED} from people where n >= $1 and n < $2`, [
    first,
    first + BigInt(CHUNK),
  ]);
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
