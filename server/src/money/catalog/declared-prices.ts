import type { PriceDeclaration, PriceEntry, Undeclared } from '@tallygate/receipts';
import { type SqlBool, sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { priceOf, pricesOfServiceTiers, type UnitPrices, type WrittenPrice } from './price.ts';
import type { PriceRow } from './price-timeline.ts';
import { tables } from './tables.ts';

/** The log of receipts, as the catalogue needs it: what it declares stands in the log when the transaction is committed. */
export interface PriceLog {
  /** @returns to be called once the transaction is committed */
  within(client: PoolClient, declarations: readonly Undeclared[]): Promise<() => Promise<void>>;
}

/** SQL: the subject of the price `p` in the log. */
const SUBJECT = sql<string>`p.model_id || E'\\n' || p.version`;
/**
 * SQL: the entry of the price `p` in the log, which is looked up by index for each. A plain join compares each price with each entry where
 * PostgreSQL has no statistics of the log yet, as after the first start: a quarter of a second for the shipped list.
 */
export const ENTRY_OF_PRICE = tables
  .selectFrom('log_declarations as e')
  .select(['e.log_index', 'e.digest'])
  .where('e.kind', '=', 'price')
  .where('e.subject', '=', SUBJECT)
  .orderBy('e.log_index')
  .limit(1)
  .as('d');
/** SQL: whether it is charged. Once the log has a price, one that does not stand in it is not. */
export const IS_DECLARED = sql<SqlBool>`(d.log_index is not null or not exists (select from log_declarations where kind = 'price'))`;

/** A price with its entry. */
export interface DeclaredRow extends PriceRow {
  readonly log_index: bigint | null;
  readonly digest: Buffer | null;
  readonly tier_entries: WrittenPrice['tierEntries'];
}

/** SQL: the entries of the service tiers of the price `p`, by tier. */
export const ENTRIES_OF_TIERS = sql<WrittenPrice['tierEntries']>`case when p.terms ? 'service_tiers' then (
  select jsonb_object_agg(t.tier, jsonb_build_object('index', e.log_index, 'digest', encode(e.digest, 'hex')))
    from jsonb_object_keys(p.terms -> 'service_tiers') as t(tier)
    join log_declarations e on e.kind = 'price' and e.subject = p.model_id || E'\\n' || p.version || '/' || t.tier) end`;

export const entryOf = ({ log_index: index, digest }: DeclaredRow): PriceEntry | null =>
  index === null || digest === null ? null : { index: Number(index), digest: digest.toString('hex') };

const written = tables
  .selectFrom('catalog_prices')
  .select(['model_id', 'version', 'source', 'cited', 'terms', 'effective_from'])
  .select(sql<Date>`date_trunc('milliseconds', now())`.as('declared_at'))
  .orderBy('place');

interface UndeclaredRow extends PriceRow {
  readonly declared_at: Date;
}

/** What this transaction has written: a row that somebody else has put into the database is not declared with it. */
export async function writtenPrices(client: PoolClient): Promise<Undeclared<PriceDeclaration>[]> {
  const rows = await rowsOf(client, written.where(sql<SqlBool>`xmin = pg_current_xact_id()::xid`));
  return rows.flatMap(declarationsOf);
}

/**
 * Declares the prices of a catalogue that is older than its log's first price: they are charged from then on.
 * @returns how many
 */
export async function declareStanding(pool: Pool, log: PriceLog): Promise<number> {
  const [count, keep] = await inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtext('tallygate catalog'))");
    const isFirst = sql<SqlBool>`not exists (select from log_declarations where kind = 'price')`;
    const rows = await rowsOf(client, written.where(isFirst));
    const kept = await log.within(client, rows.flatMap(declarationsOf));
    return [rows.length, kept] as const;
  });
  await keep();
  return count;
}

/** Of the price, and of each of its service tiers. */
function declarationsOf({ model_id, version, source, cited, terms, effective_from: from, declared_at: at }: UndeclaredRow) {
  const written = { ...terms, version, source, cited, effectiveFrom: from.getTime() };
  return [written, ...pricesOfServiceTiers(written).map(({ price }) => price)].map((price) => declarationOf(model_id, price, at));
}

function declarationOf(model: string, written: WrittenPrice, at: Date): Undeclared<PriceDeclaration> {
  const { version, effectiveFrom, unit, tiers, batchFactor } = priceOf(written);
  return {
    version: 'tallygate-declaration/v1',
    kind: 'price',
    declared_at: rfc3339(at),
    model,
    price_version: version,
    effective_from: rfc3339(effectiveFrom),
    unit_prices_pico_usd: inText(unit),
    tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, unit_prices_pico_usd: inText(tier.unit) })),
    batch_factor: batchFactor,
  };
}

const inText = (unit: UnitPrices): Record<string, string> =>
  Object.fromEntries(Object.entries(unit).map(([meter, pico]) => [meter, pico.toString()]));
