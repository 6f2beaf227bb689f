import { consistencyRanges, formatTlogProof, inclusionRanges } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import type { Archive } from '../../archive/index.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRow, firstOf, prepared } from '../../kernel/statements.ts';
import { storedReceipt } from '../stored-receipt.ts';
import { tables } from '../tables.ts';
import { readRanges } from './stored-tree.ts';

/** Appending follows the settlement by seconds. */
const SOON_S = 2;

/** A state of the log, with the note that says so. */
export interface SignedState {
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

const Checkpoint = z.object({ size: z.bigint(), note: z.string() });

/** The newest; undefined while the log is empty. */
export async function signedState(db: Pool | PoolClient): Promise<SignedState | undefined> {
  const newest = tables.selectFrom('receipt_log_checkpoints').select(['size', 'note']).orderBy('size', 'desc').limit(1);
  const row = await firstOf(prepared(db, 'newest state of log'), newest);
  return row && { size: Number(row.size), note: row.note };
}

/** When the newest state was signed, by the clock of the gateway that did; undefined while the log is empty. */
export async function newestStateAt(pool: Pool): Promise<Date | undefined> {
  const row = await firstOf(pool, tables.selectFrom('receipt_log_checkpoints').select('created_at').orderBy('size', 'desc').limit(1));
  return row?.created_at;
}

/**
 * The state to prove an entry against: of those that have it, one that the most of today's witnesses have cosigned, and of these the newest; the
 * newest of all where none of them has cosigned one. A witness that is away, or is one no more, so keeps no entry from the cosignatures of the
 * others. Looked at is the newest state of each number of cosignatures, and not every state there ever was. Undefined while the log is empty.
 */
export async function provingState(pool: Pool, index: number): Promise<SignedState | undefined> {
  const row = await checkedRow(
    pool,
    Checkpoint,
    `select newest.size, newest.note
       from generate_series(1, (select max(cosignatures) from receipt_log_checkpoints)) as signers,
            lateral (select size, note from receipt_log_checkpoints where cosignatures = signers::smallint and size > $1
                      order by size desc limit 1) newest,
            lateral (select count(*) as today from receipt_log_witnesses where position(E'\\n— ' || name || ' ' in newest.note) > 0) cosigned
      where today > 0 order by today desc, size desc limit 1`,
    [index],
  );
  return row ? { size: Number(row.size), note: row.note } : signedState(pool);
}

async function cosignedState(pool: Pool, cosignatures: number): Promise<SignedState | undefined> {
  const row = await checkedRow(
    pool,
    Checkpoint,
    // The newest of each number of cosignatures, by the index: not all states that there ever were.
    `select newest.size, newest.note
       from generate_series($1::integer, (select max(cosignatures)::integer from receipt_log_checkpoints)) as signers,
            lateral (select size, note from receipt_log_checkpoints where cosignatures = signers::smallint order by size desc limit 1) newest
      order by size desc limit 1`,
    [cosignatures],
  );
  return row && { size: Number(row.size), note: row.note };
}

/** The newest that so many have cosigned; the newest of all where none has so many. @throws Problem `not_found` while the log is empty */
export async function newestCheckpoint(pool: Pool, cosignatures = 0): Promise<SignedState> {
  const state = (cosignatures > 0 && (await cosignedState(pool, cosignatures))) || (await signedState(pool));
  if (state) return state;
  throw new Problem('not_found', 'Nothing has been settled yet: the first checkpoint follows the first receipt by seconds.', {
    retryAfterSeconds: SOON_S,
  });
}

/** A `.tlog-proof` file against the newest checkpoint. @throws Problem `not_found` where there is no such receipt, or not in the log yet */
export async function proofOfReceipt(pool: Pool, archive: Archive, receiptId: string): Promise<string> {
  const row = await storedReceipt(pool, archive, receiptId);
  if (!row) throw new Problem('not_found', 'There is no receipt with this id; a receipt appears a moment after its answer has ended.');
  if (row.log_index === null)
    throw new Problem('not_found', 'The receipt is not in the log yet: it follows within seconds.', { retryAfterSeconds: SOON_S });
  const index = Number(row.log_index);
  const { size, note } = (await provingState(pool, index)) ?? (await newestCheckpoint(pool));
  return formatTlogProof({ index, path: await readRanges(pool, inclusionRanges(index, size)), checkpoint: note });
}

/** That the log of one size is the beginning of that of another. @throws Problem `validation_failed` for sizes that the log has not had */
export async function consistencyOf(pool: Pool, oldSize: number, newSize: number): Promise<Uint8Array[]> {
  if (oldSize > newSize) throw invalidInput([{ loc: ['query', 'from'], msg: 'must be at most `to`', type: 'invalid' }]);
  const size = Number((await firstOf(pool, tables.selectFrom('receipt_log').select('size')))?.size ?? 0);
  if (newSize > size) throw invalidInput([{ loc: ['query', 'to'], msg: `must be at most ${size}, the size of the log`, type: 'invalid' }]);
  return readRanges(pool, consistencyRanges(oldSize, newSize));
}
