import type { PoolClient } from 'pg';
import type { Terms } from '../../adapters/chain/port.ts';
import { type Queryable, type RowOf, rowsOf } from '../../kernel/statements.ts';
import type { Anchor as AnchorEntity } from '../entities.ts';
import { tables } from '../tables.ts';
import type { Anchor, AnchorInclusion, AnchorTransaction } from './anchor.ts';

/** Which contract on which chain. */
export interface AnchorPlace {
  readonly chainId: number;
  readonly contract: string;
}

/** A row of `anchors`. */
export type AnchorRow = Readonly<RowOf<typeof AnchorEntity>>;

/** To be narrowed and ordered. */
export const ANCHORS = tables.selectFrom('anchors').selectAll();

export const anchorsAt = ({ chainId, contract }: AnchorPlace) =>
  ANCHORS.where('chain_id', '=', BigInt(chainId)).where('contract', '=', contract);

export const selectAnchors = async (db: Queryable, anchors: typeof ANCHORS): Promise<Anchor[]> =>
  (await rowsOf(db, anchors)).map(anchorOfRow);

/** On their way, the smallest first: each is shown to follow from the one before. */
export const unfinishedAnchors = (db: Queryable, place: AnchorPlace): Promise<Anchor[]> =>
  selectAnchors(db, anchorsAt(place).where('state', 'in', ['logged', 'submitted', 'included']).orderBy('tree_size'));

/** The newest first. */
export async function transactionsOf(db: PoolClient, anchorId: string): Promise<AnchorTransaction[]> {
  const sent = tables.selectFrom('anchor_transactions').selectAll().where('anchor_id', '=', anchorId);
  const rows = await rowsOf(db, sent.orderBy('recorded_at', 'desc').orderBy('max_fee_per_gas', 'desc'));
  return rows.map((row) => ({
    hash: row.transaction_hash,
    raw: row.raw,
    nonce: Number(row.nonce),
    maxPerGas: BigInt(row.max_fee_per_gas),
    maxPriorityPerGas: BigInt(row.max_priority_fee_per_gas),
    recordedAt: row.recorded_at,
  }));
}

/** A state that is meant for the chain, or was found there. Of one size there is one anchor on a contract: a second is refused by the database. */
export async function insertAnchor(client: PoolClient, anchor: Anchor): Promise<void> {
  await client.query(
    `insert into anchors (anchor_id, chain_id, contract, tree_size, root, previous_size, state, publisher, nonce, gas_limit, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[anchor.id, anchor.chainId, anchor.contract, anchor.size, anchor.root, anchor.previousSize],
      ...[anchor.state, anchor.publisher, anchor.nonce, anchor.gasLimit, anchor.createdAt],
    ],
  );
}

/** Written before it is sent. Whoever dies in between finds it here, and sends these very bytes. */
export async function recordTransaction(
  client: PoolClient,
  anchorId: string,
  { hash, raw, terms, now }: { hash: string; raw: string; terms: Terms; now: Date },
): Promise<void> {
  const { nonce, fees } = terms;
  await client.query(
    `insert into anchor_transactions (transaction_hash, anchor_id, nonce, raw, max_fee_per_gas, max_priority_fee_per_gas, recorded_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (transaction_hash) do nothing`,
    [hash, anchorId, nonce, raw, fees.maxPerGas, fees.maxPriorityPerGas, now],
  );
}

/** It is to be sent once more, in another place of the account's order or after another state. */
export async function reissue(
  client: PoolClient,
  { id }: Anchor,
  { publisher, nonce, gasLimit, previousSize }: Pick<Anchor, 'publisher' | 'nonce' | 'gasLimit' | 'previousSize'>,
): Promise<void> {
  await client.query('update anchors set publisher = $2, nonce = $3, gas_limit = $4, previous_size = $5 where anchor_id = $1', [
    ...[id, publisher, nonce, gasLimit, previousSize],
  ]);
}

/** From now on it waits for a block; of one that had been in a block already, nothing that the block said holds any longer. */
export async function markSubmitted(client: PoolClient, { id }: Anchor, now: Date): Promise<void> {
  await client.query(
    `update anchors set state = 'submitted', submitted_at = coalesce(submitted_at, $2), transaction_hash = null, block_number = null,
       block_time = null, gas_used = null, fee_wei = null, fee_nano_usd = null, included_at = null
     where anchor_id = $1`,
    [id, now],
  );
}

export async function markIncluded(client: PoolClient, { id }: Anchor, inclusion: AnchorInclusion, now: Date): Promise<void> {
  const { hash, blockNumber, blockTime, gasUsed, feeWei, feeNanoUsd } = inclusion;
  await client.query(
    `update anchors set state = 'included', submitted_at = coalesce(submitted_at, $8), included_at = $8, transaction_hash = $2,
       block_number = $3, block_time = $4, gas_used = $5, fee_wei = $6, fee_nano_usd = $7
     where anchor_id = $1`,
    [id, hash, blockNumber, blockTime, gasUsed, feeWei, feeNanoUsd ?? null, now],
  );
}

export async function markFinalized(client: PoolClient, { id }: Anchor, now: Date): Promise<void> {
  await client.query(`update anchors set state = 'finalized', finalized_at = $2 where anchor_id = $1`, [id, now]);
}

/** A later state is on the chain, so this one cannot follow any more. Its nonce is for others to use. */
export async function markSuperseded(client: PoolClient, { id }: Anchor): Promise<void> {
  await client.query(`update anchors set state = 'superseded', nonce = null where anchor_id = $1`, [id]);
}

export const anchorOfRow = (row: AnchorRow): Anchor => ({
  id: row.anchor_id,
  chainId: Number(row.chain_id),
  contract: row.contract,
  state: row.state,
  size: Number(row.tree_size),
  root: row.root,
  previousSize: Number(row.previous_size),
  publisher: row.publisher,
  nonce: row.nonce === null ? null : Number(row.nonce),
  gasLimit: row.gas_limit === null ? null : BigInt(row.gas_limit),
  inclusion: inclusionOfRow(row),
  createdAt: row.created_at,
  submittedAt: row.submitted_at,
  includedAt: row.included_at,
  finalizedAt: row.finalized_at,
});

function inclusionOfRow(row: AnchorRow): AnchorInclusion | null {
  if (row.transaction_hash === null || row.block_number === null || row.block_time === null) return null;
  return {
    hash: row.transaction_hash,
    blockNumber: Number(row.block_number),
    blockTime: row.block_time,
    gasUsed: BigInt(row.gas_used ?? 0),
    feeWei: BigInt(row.fee_wei ?? 0),
    feeNanoUsd: row.fee_nano_usd === null ? undefined : BigInt(row.fee_nano_usd),
  };
}
