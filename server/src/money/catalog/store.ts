import { isDeepStrictEqual } from 'node:util';
import type { ModelDefinition } from '@tallygate/contract';
import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { FormerModel } from './catalog.ts';
import {
  type DeclaredRow,
  ENTRIES_OF_TIERS,
  ENTRY_OF_PRICE,
  entryOf,
  IS_DECLARED,
  type PriceLog,
  writtenPrices,
} from './declared-prices.ts';
import { faultOfTerms, type GivenPrice, type ListedModel } from './entry.ts';
import type { ModelRecord, Source } from './model.ts';
import type { WrittenPrice } from './price.ts';
import { carriedOn, LEAD_MS, type PriceRow, PriceTimeline } from './price-timeline.ts';
import { tables } from './tables.ts';

/** Told of every change of the catalogue, with its revision. */
export const CATALOG_CHANNEL = 'tallygate_catalog';

/** What a provider said that it serves. */
export interface Found {
  readonly provider: string;
  readonly baseUrl: string;
  readonly names: readonly string[];
}

/** The catalogue as the database has it. */
export interface CatalogState {
  /** Grows with every change. */
  readonly revision: bigint;
  readonly records: readonly ModelRecord[];
  readonly former: readonly FormerModel[];
  readonly found: readonly Found[];
}

export const revisionOf = async (pool: Pool): Promise<bigint> =>
  (await firstOf(pool, tables.selectFrom('catalog_revision').select('revision')))?.revision ?? 0n;

const PRICE_COLUMNS = ['model_id', 'version', 'source', 'cited', 'terms', 'effective_from'] as const;
/** Of several prices of one moment, the one that was written last. */
const PRICES = tables
  .selectFrom('catalog_prices as p')
  .leftJoinLateral(ENTRY_OF_PRICE, (join) => join.onTrue())
  .where(IS_DECLARED)
  .distinctOn(['p.model_id', 'p.effective_from'])
  .select(['p.model_id', 'p.version', 'p.source', 'p.cited', 'p.terms', 'p.effective_from', 'd.log_index', 'd.digest'])
  .select(ENTRIES_OF_TIERS.as('tier_entries'))
  .orderBy('p.model_id')
  .orderBy('p.effective_from')
  .orderBy('p.place', 'desc');

/** The revision is read first: what changes meanwhile is told of later, and read again. */
export async function readCatalog(pool: Pool): Promise<CatalogState> {
  const revision = await revisionOf(pool);
  const [models, prices, found] = await Promise.all([
    rowsOf(pool, LAYERS),
    rowsOf(pool, PRICES),
    rowsOf(pool, tables.selectFrom('catalog_discoveries').select(['provider', 'base_url', 'names'])),
  ]);
  const pricesOf = Map.groupBy(prices, (row) => row.model_id);
  const records = merged(models).map((row) => ({ ...row, prices: (pricesOf.get(row.id) ?? []).map(writtenPrice) }));
  for (const { id } of records) pricesOf.delete(id);
  return {
    revision,
    records,
    former: [...pricesOf].map(([id, rows]) => ({ id, prices: rows.map(writtenPrice) })),
    found: found.map(({ base_url, ...row }) => ({ ...row, baseUrl: base_url })),
  };
}

interface DefinitionRow {
  readonly id: string;
  readonly source: Source;
  readonly definition: ModelDefinition;
}

/** The lowest source of a model first. */
const LAYERS = tables
  .selectFrom('catalog_models')
  .select(['id', 'source', 'definition'])
  .orderBy('id')
  .orderBy(sql`array_position(array['discovery', 'shipped', 'file', 'admin'], source)`);

/** What a higher source leaves out is as the next one has it. */
function merged(rows: readonly DefinitionRow[]): Omit<ModelRecord, 'prices'>[] {
  const models = new Map<string, Omit<ModelRecord, 'prices'>>();
  for (const { id, source, definition } of rows) {
    const below = models.get(id);
    models.set(id, { id, sources: [source, ...(below?.sources ?? [])], definition: { ...below?.definition, ...definition } });
  }
  return [...models.values()];
}

const writtenPrice = (row: PriceRow | DeclaredRow): WrittenPrice => {
  const { version, source, cited, terms, effective_from: from } = row;
  const declared = 'log_index' in row ? { entry: entryOf(row), tierEntries: row.tier_entries ?? null } : { entry: null };
  return { ...terms, ...{ version, source, cited, effectiveFrom: from.getTime() }, ...declared };
};

export interface Changing {
  readonly pool: Pool;
  /** Undefined where nothing is charged, as in tests of the catalogue alone. */
  readonly log?: PriceLog | undefined;
}

/**
 * One at a time writes: which price is the first, and which the newest, is read and then written. What is written is declared in the log, in the
 * same transaction: nobody reads a price that does not stand in it.
 *
 * @throws Problem `store_unavailable` where prices were written and the log is stopped
 */
export async function changingCatalog<T>({ pool, log }: Changing, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const { result, keep } = await inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtext('tallygate catalog'))");
    const done = await work(client);
    return { result: done, keep: log && (await log.within(client, await writtenPrices(client))) };
  });
  await keep?.();
  return result;
}

/** Writes a definition, and whether there was none of that source before. */
export async function writeDefinition(
  client: PoolClient,
  id: string,
  source: Source,
  definition: ModelDefinition,
): Promise<ModelDefinition | undefined> {
  const before = tables.selectFrom('catalog_models').select('definition').where('id', '=', id).where('source', '=', source);
  const found = await firstOf(client, before);
  await client.query(
    `insert into catalog_models (id, source, definition) values ($1, $2, $3)
     on conflict (id, source) do update set definition = excluded.definition`,
    [id, source, JSON.stringify(definition)],
  );
  return found?.definition;
}

/** @returns what was deleted; undefined where that source had none */
export async function deleteDefinition(client: PoolClient, id: string, source: Source): Promise<ModelDefinition | undefined> {
  const deleted = tables.deleteFrom('catalog_models').where('id', '=', id).where('source', '=', source).returning('definition');
  return (await firstOf(client, deleted))?.definition;
}

/** A price to be written down. */
export interface NewPrice {
  readonly modelId: string;
  readonly source: Source;
  readonly price: GivenPrice;
}

/**
 * The first price of a model starts now, whatever it says; a later one when it says, but not before all gateways know of it. One that is set for
 * the moment of another replaces it. A version stands for one price permanently: what comes back after another one has a version of its own. The time
 * is the database's.
 */
async function writePrices(client: PoolClient, prices: readonly NewPrice[]): Promise<WrittenPrice[]> {
  if (prices.length === 0) return [];
  const rows = prices.map(({ modelId, source, price: { version, effective_from, cited, ...terms } }) => ({
    ...{ model_id: modelId, source, cited, terms, version: version ?? null },
    effective_from: effective_from === undefined ? null : rfc3339(Date.parse(effective_from)),
  }));
  const written = await rowsOf(
    client,
    tables
      .insertInto('catalog_prices')
      .columns(PRICE_COLUMNS)
      .expression(
        sql`select r.model_id,
            case when r.version is null or exists (select from catalog_prices p where p.model_id = r.model_id and p.version = r.version)
                 then to_char(f.effective_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || replaced.suffix else r.version end,
            r.source, r.cited, r.terms, f.effective_from
       from json_to_recordset(${JSON.stringify(rows)}) as r(model_id text, version text, source text, cited text, terms jsonb, effective_from timestamptz),
            date_trunc('milliseconds', clock_timestamp()) as present,
            lateral (select case when exists (select from catalog_prices p where p.model_id = r.model_id)
                                 then greatest(r.effective_from, present + ${LEAD_MS} * interval '1 millisecond') else present end as effective_from) f,
            lateral (select case count(*) when 0 then '' else '.' || count(*) + 1 end as suffix
                       from catalog_prices p where p.model_id = r.model_id and p.effective_from = f.effective_from) replaced`,
      )
      .returning(PRICE_COLUMNS),
  );
  return written.map(writtenPrice);
}

/** An administrator's price, and what it makes of the moments after it that were announced before. */
export async function writeOwnPrice(client: PoolClient, modelId: string, price: GivenPrice): Promise<WrittenPrice | undefined> {
  const before = await rowsOf(client, tables.selectFrom(PRICES.as('p')).selectAll().where('model_id', '=', modelId));
  const [made] = await writePrices(client, [{ modelId, source: 'admin', price }]);
  if (!made) return undefined;
  const carried = carriedOn(price, made.effectiveFrom, before);
  await writePrices(
    client,
    carried.map((later) => ({ modelId, source: 'admin', price: later })),
  );
  return made;
}

/** A list says something that cannot be charged; nothing of it was written. */
export class ListFault extends Error {}

/** A list as it was read. */
export interface ReadList {
  readonly source: 'shipped' | 'file';
  readonly digest: string;
  models(): readonly ListedModel[];
}

export interface Filled {
  /** Entries that are other than before. */
  readonly changed: number;
  /** Models of the file whose price an administrator has set: what the file says of it is not charged. */
  readonly overruled: readonly string[];
}

const UNCHANGED: Filled = { changed: 0, overruled: [] };

/**
 * Makes the catalogue's part of that source what the list says, and sets prices that differ from what is charged. Does nothing where the list is
 * the one that was read last; or, of the shipped one, where a newer gateway has brought a newer one.
 *
 * @throws ListFault where a price leaves out what the model's kind is charged by
 */
export async function fillFrom(changing: Changing, list: ReadList): Promise<Filled> {
  const { pool } = changing;
  const { source, digest } = list;
  const ofSource = tables.selectFrom('catalog_lists').where('source', '=', source);
  if ((await firstOf(pool, ofSource.select('digest')))?.digest === digest) return UNCHANGED;
  const models = list.models();
  const edition = editionOf(models);
  return changingCatalog(changing, async (client) => {
    const present = await firstOf(client, ofSource.select('edition'));
    if (source === 'shipped' && (present?.edition ?? '') > edition) return UNCHANGED;
    await client.query(
      `insert into catalog_lists (source, digest, edition) values ($1, $2, $3)
       on conflict (source) do update set digest = excluded.digest, edition = excluded.edition`,
      [source, digest, edition],
    );
    const changed = await writeList(client, source, models);
    return { changed, overruled: await settlePrices(client) };
  });
}

/** The newest of its versions, which are days in the shipped list. */
const editionOf = (models: readonly ListedModel[]): string =>
  models
    .flatMap(({ prices }) => prices.map(({ version = '' }) => version))
    .sort()
    .at(-1) ?? '';

async function writeList(client: PoolClient, source: ReadList['source'], models: readonly ListedModel[]): Promise<number> {
  const rows = await rowsOf(
    client,
    tables.selectFrom('catalog_models').select(['id', 'definition', 'stated']).where('source', '=', source),
  );
  const known = new Map(rows.map(({ id, ...row }) => [id, row]));
  const listed = models.map(({ id, definition, prices }) => ({ id, source, definition, stated: prices }));
  // As JSON has it: what is undefined here is absent there.
  const changed = listed.filter(
    ({ id, definition, stated }) => !isDeepStrictEqual(known.get(id), JSON.parse(JSON.stringify({ definition, stated }))),
  );
  if (changed.length > 0)
    await client.query(
      `insert into catalog_models (id, source, definition, stated)
       select id, source, definition, stated from json_to_recordset($1) as r(id text, source text, definition jsonb, stated jsonb)
       on conflict (id, source) do update set definition = excluded.definition, stated = excluded.stated`,
      [JSON.stringify(changed)],
    );
  const ids = new Set(models.map(({ id }) => id));
  const gone = rows.filter(({ id }) => !ids.has(id)).map(({ id }) => id);
  if (gone.length > 0) await client.query('delete from catalog_models where source = $1 and id = any($2)', [source, gone]);
  return changed.length + gone.length;
}

/**
 * Sets what the lists say where it differs from what is charged. An administrator's price holds against both lists, and the file's against the
 * shipped one; where the file names a price no longer, the shipped one is set anew.
 */
async function settlePrices(client: PoolClient): Promise<readonly string[]> {
  const stated = await rowsOf(
    client,
    tables
      .selectFrom('catalog_models')
      .distinctOn('id')
      .select(['id', 'stated', sql<'shipped' | 'file'>`source`.as('source')])
      .where('source', 'in', ['shipped', 'file'])
      .where(sql<SqlBool>`jsonb_array_length(stated) > 0`)
      .orderBy('id')
      .orderBy('source'),
  );
  const written = await rowsOf(client, PRICES);
  const present = await firstOf(client, tables.selectNoFrom(sql<Date>`clock_timestamp()`.as('now')));
  const now = present?.now.getTime() ?? 0;
  const pricesOf = Map.groupBy(written, (row) => row.model_id);
  const statedOf = new Map(stated.map((row) => [row.id, row]));
  const definitions = new Map(merged(await rowsOf(client, LAYERS)).map(({ id, definition }) => [id, definition]));
  const firsts: NewPrice[] = [];
  const laters: NewPrice[] = [];
  const overruled: string[] = [];
  for (const id of new Set([...statedOf.keys(), ...pricesOf.keys()])) {
    const { source = 'shipped', stated: given = [] } = statedOf.get(id) ?? {};
    for (const price of given) refuse(`models.${id}.price`, faultOfTerms(definitions.get(id)?.kind, price));
    const there = new PriceTimeline(pricesOf.get(id) ?? [], now);
    if (there.isAdmins) {
      if (source === 'file' && !given.some((price) => there.charges(price))) overruled.push(id);
      continue;
    }
    if (source === 'file') for (const price of given) refuse(`models.${id}.price.effective_from`, there.faultOfMoment(price));
    const prices = there.changesTo(given).map((price) => ({ modelId: id, source, price }));
    if (there.isEmpty) firsts.push(...prices.splice(0, 1));
    laters.push(...prices);
  }
  await writePrices(client, firsts);
  await writePrices(client, laters);
  return overruled;
}

function refuse(path: string, fault: string | undefined): void {
  if (fault !== undefined) throw new ListFault(`${path}: ${fault}`);
}
