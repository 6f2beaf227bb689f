import type { Pool } from 'pg';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { checkedRow } from '../../kernel/statements.ts';

/** Whoever was shown a checkpoint in that time may come back with it: witnesses, clients that follow the log. */
const KEPT_WHOLE_MS = 86_400_000;
/** Checkpoints that one statement reads. */
const STEP = 10_000;

/**
 * Deletes the checkpoints that are older than a day but for the last of each hour, and of each number of cosignatures in it: while receipts come
 * in there is one each second. Nothing is lost with them. The root of every size follows from the nodes, which stay, and a proof is against the
 * newest checkpoint of a number of cosignatures.
 */
export async function thinCheckpoints({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }, signal: AbortSignal): Promise<void> {
  const before = new Date(clock.now() - KEPT_WHOLE_MS);
  let after: bigint | null = -1n;
  while (after !== null && !signal.aborted) after = await thinAfter(pool, after, before);
}

const Looked = z.object({ last: z.bigint().nullable() });

/** @returns the last size that was looked at; null where there was none */
async function thinAfter(pool: Pool, after: bigint, before: Date): Promise<bigint | null> {
  const looked = await checkedRow(
    pool,
    Looked,
    `with read as materialized (
       select size, created_at, cosignatures from receipt_log_checkpoints where size > $1 and created_at < $2 order by size limit $3
     ), numbered as (
       select size, row_number() over (partition by date_trunc('hour', created_at, 'UTC'), cosignatures order by size desc) as place from read
     ), gone as (
       delete from receipt_log_checkpoints where size in (select size from numbered where place > 1)
     )
     select max(size) as last from read`,
    [after, before, STEP],
  );
  return looked?.last ?? null;
}
