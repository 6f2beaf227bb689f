import * as z from 'zod';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { recordEvent } from '../../webhooks/index.ts';
import type { Anchor } from './anchor.ts';

/** In one event: more can be listed. */
const MOST_IDS = 100;

const Anchored = z.object({ account_id: z.string(), receipt_count: z.number(), receipt_ids: z.array(z.string()) });

/**
 * Tells webhooks of receipts that asked to be anchored and are in the state of this anchor, but in none before it. Written before the anchor is
 * marked as final: after a crash in between it is told again, and the key of the event keeps the second one out.
 */
export async function tellAnchored(db: Queryable, { id, chainId, size, previousSize, inclusion }: Anchor): Promise<void> {
  const accounts = await checkedRows(
    db,
    Anchored,
    `select account_id, count(*)::int as receipt_count, (array_agg(receipt_id::text order by log_index))[1:$3] as receipt_ids
       from receipts where anchor_wished and log_index >= $1 and log_index < $2 group by account_id`,
    [previousSize, size, MOST_IDS],
  );
  const data = { anchor_id: id, chain_id: chainId, transaction_hash: inclusion?.hash ?? '', tree_size: size };
  for (const { account_id: accountId, ...receipts } of accounts)
    await recordEvent(db, {
      ...{ accountId, type: 'receipt.anchored', data: { ...data, ...receipts } },
      dedupeKey: `receipt.anchored:${id}:${accountId}`,
    });
}
