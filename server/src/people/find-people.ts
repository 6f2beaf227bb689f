import type { PeopleFilter } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import { foldForSearch } from './fold.ts';
import { CHUNK } from './index-people.ts';
import type { PersonRow } from './person-row.ts';
import { DESCRIBED, type Described, fits, type Wanted, wantedBy } from './terms.ts';

/** Up to so many who may fit are looked at to the last; of more, `total` is worked out from those that were. */
const COUNTED = 1_000;
const LOOKED_AT_ONCE = 500;
const CHUNKS_AT_ONCE = 64;

export interface FoundPeople {
  /** Those who became known last first. */
  readonly rows: PersonRow[];
  readonly total: number;
  readonly isExact: boolean;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** One page of the people that fit a filter, all of it as of one moment. */
export async function findPeople(pool: Pool, filter: PeopleFilter, page: Page): Promise<FoundPeople> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const found = await find(client, wantedBy(filter, foldForSearch(filter.q ?? '')), page);
    await client.query('commit');
    client.release();
    return found;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Everybody who fits, in the order of the list, some hundred at a time: as they are when their turn comes. */
export async function* walkPeople(pool: Pool, filter: PeopleFilter): AsyncGenerator<PersonRow[]> {
  const wanted = wantedBy(filter, foldForSearch(filter.q ?? ''));
  const { rows: last } = await pool.query<{ n: bigint }>('select coalesce(max(n), 0) as n from people');
  for (let chunk = (last[0]?.n ?? 0n) / BigInt(CHUNK); chunk >= 0n; chunk--) {
    const first = chunk * BigInt(CHUNK);
    const { rows } = await pool.query<PersonRow>('select * from people where n >= $1 and n < $2 order by n desc', [
      first,
      first + BigInt(CHUNK),
    ]);
    const fitting = rows.filter((row) => fits(row, wanted));
    if (fitting.length > 0) yield fitting;
  }
}

async function find(client: PoolClient, wanted: Wanted, { limit, offset }: Page): Promise<FoundPeople> {
  const chunks = new Chunks(client, wanted, await unindexed(client, wanted));
  const counts = await chunks.counts();
  const candidates = counts.reduce((sum, { count }) => sum + count, 0);
  const isCertain = wanted.words.length === 0;
  const seen = { checked: 0, fitting: 0 };
  const page: bigint[] = [];
  let skipped = 0;

  for (let at = 0; at < counts.length; ) {
    const isFull = page.length === limit;
    if (isFull && (isCertain || candidates > COUNTED)) break;
    const { count } = counts[at] ?? { count: 0 };
    // Where terms decide, whole chunks before the page are passed over by their number.
    if (isCertain && skipped + count <= offset) {
      skipped += count;
      at++;
      continue;
    }
    const some = counts.slice(at, at + chunksFor(counts, at, Math.max(offset - skipped + limit, isCertain ? 1 : LOOKED_AT_ONCE)));
    at += some.length;
    const ns = await chunks.members(some.map(({ chunk }) => chunk));
    const fitting = isCertain ? ns : await holding(client, ns, wanted, chunks.live);
    seen.checked += ns.length;
    seen.fitting += fitting.length;
    for (const n of fitting) {
      if (skipped < offset) skipped++;
      else if (page.length < limit) page.push(n);
    }
  }
  const isExact = isCertain || seen.checked >= candidates;
  const estimate = Math.max(skipped + page.length, Math.round((candidates * seen.fitting) / Math.max(1, seen.checked)));
  return { rows: await rowsOf(client, page), total: isCertain ? candidates : isExact ? seen.fitting : estimate, isExact };
}

/** How many chunks from `at` on have so many members together. */
function chunksFor(counts: readonly ChunkCount[], at: number, members: number): number {
  let sum = 0;
  let chunks = 0;
  while (chunks < CHUNKS_AT_ONCE && sum < members && at + chunks < counts.length) sum += counts[at + chunks++]?.count ?? 0;
  return chunks;
}

interface ChunkCount {
  readonly chunk: bigint;
  readonly count: number;
}

/** Who has every term, by the chunks; of those who changed since theirs was written, by what they are now. */
class Chunks {
  readonly #client: PoolClient;
  readonly #terms: readonly string[];
  /** Of everybody who changed: whether they are wanted now. */
  readonly live: ReadonlyMap<bigint, boolean>;
  readonly #liveByChunk: Map<bigint, [bigint, boolean][]>;

  constructor(client: PoolClient, { terms }: Wanted, live: ReadonlyMap<bigint, boolean>) {
    this.#client = client;
    this.#terms = terms;
    this.live = live;
    this.#liveByChunk = Map.groupBy(live, ([n]) => n / BigInt(CHUNK));
  }

  /** Every chunk with members, the newest first. */
  async counts(): Promise<ChunkCount[]> {
    const { rows } = await this.#client.query<{ chunk: bigint; count: bigint }>(
      `select chunk, bit_count(bits) as count from (${WITH_ALL_TERMS}) matched where bit_count(bits) > 0`,
      [this.#terms],
    );
    const counts = new Map(rows.map(({ chunk, count }) => [chunk, Number(count)]));
    const changed = [...this.#liveByChunk.keys()];
    for (const [chunk, ns] of Map.groupBy(await this.members(changed), (n) => n / BigInt(CHUNK))) {
      counts.set(chunk, ns.length);
      changed.splice(changed.indexOf(chunk), 1);
    }
    for (const empty of changed) counts.delete(empty);
    return [...counts].map(([chunk, count]) => ({ chunk, count })).sort((a, b) => (a.chunk < b.chunk ? 1 : -1));
  }

  /** The members of these chunks by their numbers, the highest first. */
  async members(chunks: readonly bigint[]): Promise<bigint[]> {
    if (chunks.length === 0) return [];
    const { rows } = await this.#client.query<{ chunk: bigint; bits: string }>(
      `${WITH_ALL_TERMS.replace('where', 'where chunk = any($2::bigint[]) and')}`,
      [this.#terms, chunks],
    );
    const members = new Set<bigint>();
    for (const { chunk, bits } of rows)
      for (let at = bits.indexOf('1'); at >= 0; at = bits.indexOf('1', at + 1)) members.add(chunk * BigInt(CHUNK) + BigInt(at));
    for (const chunk of chunks)
      for (const [n, isWanted] of this.#liveByChunk.get(chunk) ?? []) isWanted ? members.add(n) : members.delete(n);
    return [...members].sort((a, b) => (a < b ? 1 : -1));
  }
}

const WITH_ALL_TERMS = `select chunk, bit_and(bits) as bits from people_chunks where term = any($1::text[])
  group by chunk having count(*) = cardinality($1::text[])`;

async function unindexed(client: PoolClient, wanted: Wanted): Promise<Map<bigint, boolean>> {
  const { rows } = await client.query<{ changed: bigint } & (Described | { [Name in keyof Described]: null })>(
    `select d.n as changed, ${DESCRIBED.replaceAll(/\w+/g, 'p.$&')} from (select distinct n from people_unindexed) d left join people p on p.n = d.n`,
  );
  return new Map(rows.map((row) => [row.changed, row.search_text !== null && fits(row, wanted)]));
}

/** Those whose text holds the words. */
async function holding(client: PoolClient, ns: bigint[], { words }: Wanted, live: ReadonlyMap<bigint, boolean>): Promise<bigint[]> {
  const { rows } = await client.query<{ n: bigint; search_text: string }>('select n, search_text from people where n = any($1::bigint[])', [
    ns.filter((n) => !live.has(n)),
  ]);
  const texts = new Map(rows.map(({ n, search_text }) => [n, search_text]));
  return ns.filter((n) => live.get(n) ?? words.every((word) => texts.get(n)?.includes(word)));
}

async function rowsOf(client: PoolClient, ns: bigint[]): Promise<PersonRow[]> {
  const { rows } = await client.query<PersonRow>('select * from people where n = any($1::bigint[]) order by n desc', [ns]);
  return rows;
}
