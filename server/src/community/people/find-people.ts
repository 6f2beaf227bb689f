import type { PeopleFilter } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { anyOf, checkedRows, firstOf, rowsOf } from '../../kernel/statements.ts';
import { inSnapshot } from '../../kernel/transaction.ts';
import { type ChunkCount, Chunks } from './chunks.ts';
import { foldWords } from './fold.ts';
import { CHUNK } from './index-people.ts';
import type { PersonRow } from './person-row.ts';
import { tables } from './tables.ts';
import { DESCRIBED, type Described, fits, type Gram, type Wanted, wantedBy } from './terms.ts';

/** Up to so many who may fit are looked at to the last; of more, `total` is worked out from those that were. */
const COUNTED = 1_000;
const LOOKED_AT_ONCE = 500;
const GRAMS_ASKED = 5;
/** Chunks that are sampled to estimate how rare a trigram is. */
const SAMPLED = 8;

const TermCount = z.object({ term: z.string(), people: z.string() });
const Lacking = z.object({ n: z.bigint() });
const DESCRIBED_OF_P = DESCRIBED.map((column) => `p.${column}` as const);
/** A changed person may be deleted by now. */
const isDescribed = (row: { readonly [Name in keyof Described]: Described[Name] | null }): row is Described => row.search_text !== null;

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
export const findPeople = (pool: Pool, filter: PeopleFilter, page: Page): Promise<FoundPeople> =>
  inSnapshot(pool, (client) => find(client, wantedBy(filter, foldWords(filter.q ?? '')), page));

/** Everybody who fits, in the order of the list, some hundred at a time: as they are when their turn comes. */
export async function* walkPeople(pool: Pool, filter: PeopleFilter): AsyncGenerator<PersonRow[]> {
  const wanted = wantedBy(filter, foldWords(filter.q ?? ''));
  const last = await firstOf(
    pool,
    tables.selectFrom('people').select(({ fn }) => fn.max('n').as('n')),
  );
  for (let chunk = (last?.n ?? 0n) / BigInt(CHUNK); chunk >= 0n; chunk--) {
    const first = chunk * BigInt(CHUNK);
    const rows = await rowsOf(
      pool,
      tables
        .selectFrom('people')
        .selectAll()
        .where('n', '>=', first)
        .where('n', '<', first + BigInt(CHUNK))
        .orderBy('n', 'desc'),
    );
    const fitting = rows.filter((row) => fits(row, wanted));
    if (fitting.length > 0) yield fitting;
  }
}

async function find(client: PoolClient, wanted: Wanted, { limit, offset }: Page): Promise<FoundPeople> {
  const isCertain = wanted.words.length === 0;
  const terms = [...new Set([...wanted.terms, ...(await rarestOf(client, wanted.grams))])];
  const chunks = new Chunks(client, terms, await unindexed(client, wanted));
  const counts = await chunks.counts({ from: isCertain ? offset : 0, to: offset + limit + (isCertain ? 0 : COUNTED) });
  const candidates = counts.reduce((sum, { count }) => sum + count, 0);
  const isBehindAll = offset >= candidates;
  const seen = { checked: 0, fitting: 0 };
  const page: bigint[] = [];
  let skipped = 0;

  for (let at = 0; at < counts.length; ) {
    const isOver = page.length === limit || (isBehindAll && seen.checked > 0);
    if (isOver && (isCertain || candidates > COUNTED)) break;
    const { count } = counts[at] ?? { count: 0 };
    // Where terms decide, whole chunks before the page are passed over by their number.
    if (isCertain && skipped + count <= offset) {
      skipped += count;
      at++;
      continue;
    }
    // Where few of those who may fit do, each look takes in more than the one before.
    const missing = isBehindAll ? 0 : offset - skipped + limit - page.length;
    const some = counts.slice(at, at + chunksFor(counts, at, isCertain ? missing : Math.max(missing, LOOKED_AT_ONCE, seen.checked)));
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
  return { rows: await peopleOf(client, page), total: isCertain ? candidates : isExact ? seen.fitting : estimate, isExact };
}

/** How many chunks from `at` on have so many members together; one at least. */
function chunksFor(counts: readonly ChunkCount[], at: number, members: number): number {
  let sum = 0;
  let chunks = 0;
  while ((chunks === 0 || sum < members) && at + chunks < counts.length) sum += counts[at + chunks++]?.count ?? 0;
  return chunks;
}

/**
 * The terms of the rarest trigrams, at least one of each word, as estimated from some chunks: they leave almost no candidates
 * without the words, where common ones would leave very many, and each queried term costs a read of every chunk.
 */
async function rarestOf(client: PoolClient, grams: Wanted['grams']): Promise<string[]> {
  const all = grams.flat();
  if (all.length <= GRAMS_ASKED) return all.flat();
  const rows = await checkedRows(
    client,
    TermCount,
    `select term, sum(bit_count(bits)) as people from people_chunks where term = any($1::text[]) and chunk = any(array(
       select (select max(chunk) from people_chunks where term = 'all') * part / ${SAMPLED} from generate_series(0, ${SAMPLED}) as part))
     group by term`,
    [[...new Set(all.flat())]],
  );
  const people = new Map(rows.map(({ term, people: n }) => [term, Number(n)]));
  const likelihood = ([one, other]: Gram): number => (people.get(one) ?? 0) * (people.get(other) ?? 0);
  const byRarity = (a: Gram, b: Gram) => likelihood(a) - likelihood(b);
  const perWord = grams.map((own) => own.toSorted(byRarity));
  const firsts = perWord.flatMap((own) => own.slice(0, 1)).sort(byRarity);
  const others = perWord.flatMap((own) => own.slice(1)).sort(byRarity);
  return [...firsts, ...others].slice(0, GRAMS_ASKED).flat();
}

async function unindexed(client: PoolClient, wanted: Wanted): Promise<Map<bigint, boolean>> {
  const changed = tables.selectFrom('people_unindexed').select('n').distinct().as('d');
  const rows = await rowsOf(
    client,
    tables.selectFrom(changed).leftJoin('people as p', 'p.n', 'd.n').select('d.n as changed').select(DESCRIBED_OF_P),
  );
  return new Map(rows.map((row) => [row.changed, isDescribed(row) && fits(row, wanted)]));
}

/**
 * The people whose text has the words. The terms leave few others, so the database checks the texts and returns those few: a page far down
 * the list would otherwise fetch the texts of everybody before it.
 */
async function holding(client: PoolClient, ns: bigint[], { words }: Wanted, live: ReadonlyMap<bigint, boolean>): Promise<bigint[]> {
  const lacksOne = words.map((_word, at) => `strpos(search_text, $${at + 2}) = 0`).join(' or ');
  const lacks = (length: string) =>
    `select n from people where n = any((select $1::bigint[])::bigint[]) and octet_length(search_text) ${length} and (${lacksOne})`;
  // Each by its own index: see 0083-people-texts. The numbers are selected, since the planner would look at each of ten thousand.
  const rows = await checkedRows(client, Lacking, `${lacks('<= 1000')} union all ${lacks('> 1000')}`, [
    `{${ns.filter((n) => !live.has(n)).join(',')}}`,
    ...words,
  ]);
  const lacking = new Set(rows.map(({ n }) => n));
  return ns.filter((n) => live.get(n) ?? !lacking.has(n));
}

const peopleOf = (client: PoolClient, ns: bigint[]): Promise<PersonRow[]> =>
  rowsOf(client, tables.selectFrom('people').selectAll().where('n', '=', anyOf(ns)).orderBy('n', 'desc'));
