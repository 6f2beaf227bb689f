import type { LogDeclarations } from '@tallygate/contract';
import { type Declaration, inclusionRanges, nodesOf, type PriceDeclaration, rangeHash } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { anyOf, ifGiven, type RowOf, rowsOf } from '../../kernel/statements.ts';
import type { LogDeclaration } from '../entities.ts';
import { tables } from '../tables.ts';
import { newestCheckpoint } from './read-log.ts';
import type { Entries } from './receipts-at.ts';
import { nameOf, readNodes, sha256 } from './stored-tree.ts';

const COLUMNS = ['log_index', 'digest', 'declaration'] as const;
/** An entry of the log that is no receipt. Its declaration is canonical JSON: the very text that was digested. */
export type DeclarationRow = Readonly<Pick<RowOf<typeof LogDeclaration>, (typeof COLUMNS)[number]>>;

const declared = tables.selectFrom('log_declarations').select(COLUMNS);

/** Those of a part of the log, by their places. */
export async function declarationsAt(pool: Pool, { start, end }: Entries): Promise<Map<number, DeclarationRow>> {
  const rows = await rowsOf(pool, declared.where('log_index', '>=', BigInt(start)).where('log_index', '<', BigInt(end)));
  return new Map(rows.map((row) => [Number(row.log_index), row]));
}

/** Prices by the places of their entries. */
export async function declaredPrices(pool: Pool, indexes: readonly number[]): Promise<Map<number, PriceDeclaration>> {
  if (indexes.length === 0) return new Map();
  const rows = await rowsOf(pool, declared.where('kind', '=', 'price').where('log_index', '=', anyOf(indexes.map(BigInt))));
  return new Map(rows.map((row) => [Number(row.log_index), JSON.parse(row.declaration)]));
}

/** The path of each entry to the root of that size, base64; the nodes of all of them are read in one query. */
export async function inclusionPaths(pool: Pool, indexes: readonly number[], size: number): Promise<string[][]> {
  const ranges = indexes.map((index) => inclusionRanges(index, size));
  const nodes = new Map(
    ranges
      .flat()
      .flatMap(nodesOf)
      .map((node) => [nameOf(node), node]),
  );
  const hashOf = await readNodes(pool, [...nodes.values()]);
  return ranges.map((path) => path.map((range) => Buffer.from(rangeHash(range, hashOf, sha256)).toString('base64')));
}

export interface WantedDeclarations extends PageQuery {
  readonly kind?: Declaration['kind'] | undefined;
}

const BY_INDEX = new Keyset({ name: 'log_declarations', columns: { log_index: 'integer' }, direction: 'asc' });

/** In the order of the log, each with its proof against the newest state. @throws Problem `not_found` while the log is empty */
export async function listDeclarations(pool: Pool, wanted: WantedDeclarations): Promise<LogDeclarations> {
  const { size, note } = await newestCheckpoint(pool);
  const listed = declared.where('log_index', '<', BigInt(size)).where(({ eb }) => ifGiven(wanted.kind, (kind) => eb('kind', '=', kind)));
  const page = BY_INDEX.page(await rowsOf(pool, BY_INDEX.pageIn(listed, wanted)), wanted);
  const paths = await inclusionPaths(
    pool,
    page.data.map(({ log_index: index }) => Number(index)),
    size,
  );
  const pathOf = new Map(page.data.map(({ log_index: index }, at) => [index, paths[at] ?? []]));
  return {
    ...mapPage(page, ({ log_index: index, digest, declaration }) => ({
      index: Number(index),
      digest: digest.toString('hex'),
      declaration: JSON.parse(declaration) as Declaration,
      inclusion_path: pathOf.get(index) ?? [],
    })),
    checkpoint: note,
    tree_size: size,
    declared: await countsOf(pool, size),
  };
}

/** A declaration that is left out of the list is missed by its number, the newest ones by these. */
async function countsOf(pool: Pool, size: number): Promise<LogDeclarations['declared']> {
  const counts = tables
    .selectFrom('log_declarations')
    .select('kind')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('log_index', '<', BigInt(size))
    .groupBy('kind');
  const found = new Map((await rowsOf(pool, counts)).map(({ kind, count }) => [kind, Number(count)]));
  return Object.fromEntries(KINDS.map((kind) => [kind, found.get(kind) ?? 0])) as LogDeclarations['declared'];
}

const KINDS = ['price', 'key', 'key_retired', 'policy'] as const;
