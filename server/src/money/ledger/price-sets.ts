import { hash } from 'node:crypto';
import { canonicalJson } from '@tallygate/receipts';
import type { PoolClient } from 'pg';
import { BoundedMemory } from '../../kernel/bounded-memory.ts';

/** Pico-USD per unit, by meter. */
type UnitPrices = Readonly<Record<string, string>>;

export interface PriceSetRow {
  readonly id: string;
  readonly unit_prices: UnitPrices;
}

/** Prices of one model change rarely, and every settlement names some. */
const MOST_KNOWN = 10_000;
const ids = new BoundedMemory<string, string>(MOST_KNOWN);

/** One set of prices has one id, in whatever order it names them, and no two have the same. */
export function priceSetId(prices: UnitPrices): string {
  const text = JSON.stringify(prices);
  return ids.get(text) ?? ids.set(text, newPriceSetId(prices));
}

const newPriceSetId = (prices: UnitPrices): string =>
  hash('sha256', canonicalJson(prices), 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

export function priceSetsOf(settled: readonly { readonly unitPrices: UnitPrices }[]): PriceSetRow[] {
  const sets = new Map(settled.map(({ unitPrices }) => [priceSetId(unitPrices), unitPrices]));
  return [...sets].map(([id, unit_prices]) => ({ id, unit_prices }));
}

/** Writes sets of prices. One that was forgotten is written again, which changes nothing. */
export class PriceSets {
  readonly #written = new BoundedMemory<string, true>(MOST_KNOWN);

  /** @returns to be called once the transaction is committed */
  async write(client: PoolClient, sets: readonly PriceSetRow[]): Promise<() => void> {
    const unwritten = sets.filter(({ id }) => !this.#written.has(id));
    if (unwritten.length > 0)
      await client.query(
        // In one order, so that two writers wait for each other's rows rather than deadlock.
        `insert into price_sets select * from json_populate_recordset(null::price_sets, $1) order by id on conflict do nothing`,
        [JSON.stringify(unwritten)],
      );
    return () => {
      for (const { id } of unwritten) this.#written.set(id, true);
    };
  }
}
