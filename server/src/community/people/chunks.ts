import type { PoolClient } from 'pg';
import * as z from 'zod';
import { checkedRows } from '../../kernel/statements.ts';
import { CHUNK } from './index-people.ts';

export interface ChunkCount {
  readonly chunk: bigint;
  readonly count: number;
}

/** Which members are wanted, counted from the first one on. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

const CountedChunk = z.object({ chunk: z.bigint(), count: z.bigint(), bits: z.string().nullable() });
const FetchedChunk = z.object({ chunk: z.bigint(), bits: z.string() });

/** Who has every term, by the chunks; of those who changed since theirs was written, by what they are now. */
export class Chunks {
  readonly #client: PoolClient;
  readonly #terms: readonly string[];
  /** Of everybody who changed: whether they are wanted now. */
  readonly live: ReadonlyMap<bigint, boolean>;
  readonly #liveByChunk: Map<bigint, [bigint, boolean][]>;
  readonly #bits = new Map<bigint, string>();

  constructor(client: PoolClient, terms: readonly string[], live: ReadonlyMap<bigint, boolean>) {
    this.#client = client;
    this.#terms = terms;
    this.live = live;
    this.#liveByChunk = Map.groupBy(live, ([n]) => n / BigInt(CHUNK));
  }

  /** Every chunk with members, the newest first. @param of those whose turn will come: they are fetched in the same statement */
  async counts({ from, to }: Stretch): Promise<ChunkCount[]> {
    const rows = await checkedRows(
      this.#client,
      CountedChunk,
      `select chunk, count, case when up_to > $2 and up_to - count < $3 then bits end as bits from (
         select chunk, bits, bit_count(bits) as count, sum(bit_count(bits)) over (order by chunk desc) as up_to
         from (${WITH_ALL_TERMS}) matched where bit_count(bits) > 0) counted`,
      [this.#terms, from, to],
    );
    for (const { chunk, bits } of rows) if (bits !== null) this.#bits.set(chunk, bits);
    const counts = new Map(rows.map(({ chunk, count }) => [chunk, Number(count)]));
    const changed = new Set(this.#liveByChunk.keys());
    for (const [chunk, ns] of Map.groupBy(await this.members([...changed]), (n) => n / BigInt(CHUNK))) {
      counts.set(chunk, ns.length);
      changed.delete(chunk);
    }
    for (const empty of changed) counts.delete(empty);
    return [...counts].map(([chunk, count]) => ({ chunk, count })).sort((a, b) => (a.chunk < b.chunk ? 1 : -1));
  }

  /** The members of these chunks by their numbers, the highest first. */
  async members(chunks: readonly bigint[]): Promise<bigint[]> {
    await this.#fetch(chunks.filter((chunk) => !this.#bits.has(chunk)));
    const members = new Set<bigint>();
    for (const chunk of chunks) {
      const bits = this.#bits.get(chunk) ?? '';
      for (let at = bits.indexOf('1'); at >= 0; at = bits.indexOf('1', at + 1)) members.add(chunk * BigInt(CHUNK) + BigInt(at));
      for (const [n, isWanted] of this.#liveByChunk.get(chunk) ?? []) isWanted ? members.add(n) : members.delete(n);
    }
    return [...members].sort((a, b) => (a < b ? 1 : -1));
  }

  async #fetch(chunks: readonly bigint[]): Promise<void> {
    if (chunks.length === 0) return;
    const rows = await checkedRows(this.#client, FetchedChunk, WITH_ALL_TERMS.replace('where', 'where chunk = any($2::bigint[]) and'), [
      ...[this.#terms, chunks],
    ]);
    for (const { chunk, bits } of rows) this.#bits.set(chunk, bits);
  }
}

const WITH_ALL_TERMS = `select chunk, bit_and(bits) as bits from people_chunks where term = any($1::text[])
  group by chunk having count(*) = cardinality($1::text[])`;
