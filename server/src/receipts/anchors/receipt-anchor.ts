import type { ReceiptAnchor, ReceiptResponse } from '@tallygate/contract';
import { inclusionRanges, nodesOf, rangeHash } from '@tallygate/receipts';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { nameOf, readNodes, sha256 } from '../log/stored-tree.ts';
import { tables } from '../tables.ts';
import type { Anchor } from './anchor.ts';
import { type AnchorRow, anchorOfRow } from './anchor-rows.ts';
import { hexOf } from './read-anchors.ts';

/** What of an anchor a receipt shows, beside its own place in it. */
type Made = Extract<ReceiptAnchor, { index: number }>;

/**
 * Receipts with their anchors. Of several that hold a receipt it is the one that is furthest along; of those the smallest, which was there
 * first and stays the same from then on.
 *
 * @param isAnchoring false: this service anchors nowhere, so that what has no anchor is not waiting for one
 */
export async function withAnchors(pool: Pool, receipts: readonly ReceiptResponse[], isAnchoring: boolean): Promise<ReceiptResponse[]> {
  const indexes = receipts.map(({ log }) => (log.state === 'logged' ? log.index : null));
  const anchors = await anchorsOfEntries(pool, [...new Set(indexes.filter((index) => index !== null))]);
  return receipts.map((receipt, at) => {
    const index = indexes[at];
    const anchor = typeof index === 'number' ? anchors.get(index) : undefined;
    return { ...receipt, anchor: anchor ?? (isAnchoring ? { state: 'pending' } : null) };
  });
}

async function anchorsOfEntries(pool: Pool, indexes: readonly number[]): Promise<Map<number, Made>> {
  // The first of each state, by the index: a month's receipts are many, and so are the anchors of some years.
  const holding = sql<AnchorRow & { readonly log_index: bigint }>`(
    select wanted.log_index, holding.* from unnest(${[...indexes]}::bigint[]) as wanted (log_index), lateral (
      select first.* from unnest(array['finalized', 'included', 'submitted']) with ordinality as preferred (state, rank), lateral (
        select * from anchors where anchors.state = preferred.state and tree_size > wanted.log_index
        order by tree_size, created_at limit 1) first
      order by rank limit 1) holding)`;
  const rows = await rowsOf(pool, tables.selectFrom(holding.as('holding')).selectAll());
  const found = rows.map((row) => {
    const [anchor, index] = [anchorOfRow(row), Number(row.log_index)];
    return { anchor, index, ranges: inclusionRanges(index, anchor.size) };
  });
  const nodes = new Map(found.flatMap(({ ranges }) => ranges.flatMap(nodesOf)).map((node) => [nameOf(node), node]));
  const hashOf = await readNodes(pool, [...nodes.values()]);
  return new Map(
    found.map(({ anchor, index, ranges }) => [
      index,
      toWire(anchor, {
        index,
        path: ranges.map((range) => hexOf(rangeHash(range, hashOf, sha256))),
      }),
    ]),
  );
}

const toWire = ({ inclusion, ...anchor }: Anchor, place: Pick<Made, 'index' | 'path'>): Made => ({
  state: anchor.state === 'included' || anchor.state === 'finalized' ? anchor.state : 'submitted',
  id: anchor.id,
  chain_id: anchor.chainId,
  contract: anchor.contract,
  tree_size: anchor.size,
  root: hexOf(anchor.root),
  transaction_hash: inclusion?.hash ?? null,
  block_number: inclusion?.blockNumber ?? null,
  block_time: inclusion && rfc3339(inclusion.blockTime),
  ...place,
});
