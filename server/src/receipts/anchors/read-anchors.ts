import type { AnchorListResponse, AnchorResponse, AnchorState } from '@tallygate/contract';
import { toHex } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { ifGiven, rowsOf } from '../../kernel/statements.ts';
import type { Anchor } from './anchor.ts';
import { ANCHORS, anchorOfRow, selectAnchors } from './anchor-rows.ts';

const COIN_DIGITS = 18;

export interface AnchorQuery extends PageQuery {
  readonly chain_id?: number | undefined;
  readonly state?: AnchorState | undefined;
}

const NEWEST = new Keyset({ name: 'anchors', columns: { created_at: 'time', anchor_id: 'uuid' }, direction: 'desc' });

export async function listAnchors(pool: Pool, { chain_id, state, ...query }: AnchorQuery): Promise<AnchorListResponse> {
  const wanted = ANCHORS.where((eb) => ifGiven(chain_id, (id) => eb('chain_id', '=', BigInt(id)))).where((eb) =>
    ifGiven(state, (of) => eb('state', '=', of)),
  );
  const rows = await rowsOf(pool, NEWEST.pageIn(wanted, query));
  return mapPage(NEWEST.page(rows, query), (row) => anchorToWire(anchorOfRow(row)));
}

/** @throws Problem `not_found` */
export async function findAnchor(pool: Pool, anchorId: string): Promise<AnchorResponse> {
  const [anchor] = await selectAnchors(pool, ANCHORS.where('anchor_id', '=', anchorId));
  if (!anchor) throw new Problem('not_found', 'There is no anchor with this id: `GET /v1/anchors` lists them.');
  return anchorToWire(anchor);
}

const anchorToWire = ({ inclusion, ...anchor }: Anchor): AnchorResponse => ({
  object: 'anchor',
  id: anchor.id,
  state: anchor.state,
  chain_id: anchor.chainId,
  contract: anchor.contract,
  tree_size: anchor.size,
  root: hexOf(anchor.root),
  previous_size: anchor.previousSize,
  transaction_hash: inclusion?.hash ?? null,
  block_number: inclusion?.blockNumber ?? null,
  block_time: inclusion && rfc3339(inclusion.blockTime),
  gas_used: inclusion ? inclusion.gasUsed.toString() : null,
  fee: inclusion && coinText(inclusion.feeWei),
  fee_usd: inclusion?.feeNanoUsd === undefined ? null : formatUsd(inclusion.feeNanoUsd),
  created_at: rfc3339(anchor.createdAt),
  submitted_at: anchor.submittedAt && rfc3339(anchor.submittedAt),
  included_at: anchor.includedAt && rfc3339(anchor.includedAt),
  finalized_at: anchor.finalizedAt && rfc3339(anchor.finalizedAt),
});

/** As contracts and their tools write bytes. */
export const hexOf = (bytes: Uint8Array): string => `0x${toHex(bytes)}`;

function coinText(wei: bigint): string {
  const digits = wei.toString().padStart(COIN_DIGITS + 1, '0');
  const fraction = digits.slice(-COIN_DIGITS).replace(/0+$/, '');
  return `${digits.slice(0, -COIN_DIGITS)}${fraction && `.${fraction}`}`;
}
