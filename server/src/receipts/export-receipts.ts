import type { VaasKeySet } from '@tallygate/contract';
import type { ReceiptExportEnd, ReceiptExportHeader } from '@tallygate/receipts';
import type { Pool } from 'pg';
import * as z from 'zod';
import { type ArchivedPiece, RECEIPTS } from '../archive/index.ts';
import { type Clock, monthEnd, monthStart, rfc3339 } from '../kernel/clock.ts';
import { checkedRow, ifGiven, rowsOf } from '../kernel/statements.ts';
import { withAnchors } from './anchors/receipt-anchor.ts';
import type { ReceiptScope } from './list-receipts.ts';
import { provingState, type SignedState } from './log/read-log.ts';
import type { ReadDeps } from './read-receipt.ts';
import { lastNumber } from './receipt-numbers.ts';
import { provenReceipts } from './receipt-row.ts';
import { afterReceipt, RECEIPT_COLUMNS, type ReceiptRow, receiptsIn } from './stored-receipt.ts';

export interface ExportDeps extends ReadDeps {
  readonly clock: Clock;
  readonly keySet: () => Promise<VaasKeySet>;
  /** Whether what has no anchor yet is waiting for one. */
  readonly isAnchoring: boolean;
}

/** Witnesses are asked every few seconds: a state this old has the cosignatures of those that are there. */
const COSIGNED_WITHIN_MS = 60_000;

/** Receipts whose proofs are worked out together. */
const AT_ONCE = 500;

/**
 * All receipts of the requests of a month, the oldest first, as lines of JSON: a header with the keys in force and the state of the log, the
 * receipts, each with its proof against that one state and with its anchor, the first of each price with the price's entry, and a last line that says how many there were, so that a file that
 * was cut is told from a whole one.
 */
export async function* exportReceipts(deps: ExportDeps, scope: ReceiptScope, month: string): AsyncGenerator<Buffer, void, undefined> {
  const { pool, archive, key, clock, isAnchoring } = deps;
  const archived = await archive.pieces(RECEIPTS, spanOf(scope, month));
  // What is written from here on is left out: whoever sees this number sees all receipts up to it.
  const last = await lastNumber(pool, scope, month);
  const state = await stateToProve(deps, scope, month, archived);
  const { keys } = await deps.keySet();
  const header: ReceiptExportHeader = {
    object: 'receipt_export',
    version: 'tallygate-export/v1',
    month,
    livemode: scope.livemode,
    created_at: rfc3339(clock.now()),
    checkpoint: state?.note ?? null,
    keys,
  };
  yield lineOf(header);
  const end: ReceiptExportEnd = { object: 'receipt_export.end', receipts: 0, logged: 0 };
  const shown = new Set<number>();
  for await (const rows of archivedThenStored(deps, { ...scope, last }, month, archived)) {
    const receipts = await withAnchors(pool, await provenReceipts({ pool, key, shown }, rows, state), isAnchoring);
    end.receipts += receipts.length;
    end.logged += receipts.filter(({ log }) => log.state === 'logged').length;
    yield Buffer.concat(receipts.map(lineOf));
  }
  yield lineOf(end);
}

/**
 * One that witnesses have cosigned, where it has what the month has in the log but for its last minute: what is newer than it stays pending in
 * the file, rather than that all the rest is without cosignatures for as long as new receipts come in.
 */
async function stateToProve(
  { pool, clock }: ExportDeps,
  { accountId, livemode }: ReceiptScope,
  month: string,
  archived: readonly ArchivedPiece[],
): Promise<SignedState | undefined> {
  const place = await checkedRow(
    pool,
    LastPlace,
    `select least(greatest(max(log_index), $6), coalesce((select size from receipt_log_checkpoints where created_at <= $5 order by size desc limit 1), 0) - 1) as last
       from receipts where account_id = $1 and livemode = $2 and started_at >= $3 and started_at < $4`,
    [accountId, livemode, monthStart(month), monthEnd(month), new Date(clock.now() - COSIGNED_WITHIN_MS), lastPlaceOf(archived)],
  );
  return provingState(pool, Number(place?.last));
}

interface ExportScope extends ReceiptScope {
  /** The highest number of a receipt that is exported. */
  readonly last: number;
}

const LastPlace = z.object({ last: z.bigint().nullable() });

const exported = ({ accountId, livemode, last }: ExportScope, month: string, archived?: string) =>
  receiptsIn(archived)
    .select(RECEIPT_COLUMNS)
    .where('account_id', '=', accountId)
    .where('livemode', '=', livemode)
    .where('started_at', '>=', monthStart(month))
    .where('started_at', '<', monthEnd(month))
    .where('account_sequence', '<=', last)
    .orderBy('started_at')
    .orderBy('receipt_id');

/** @throws where some of the month was archived meanwhile: what is cut off then is told by its missing last line */
async function* archivedThenStored(
  { pool, archive }: Pick<ExportDeps, 'pool' | 'archive'>,
  scope: ExportScope,
  month: string,
  archived: readonly ArchivedPiece[],
): AsyncGenerator<ReceiptRow[]> {
  for (const piece of archived.toReversed()) {
    const json = await archive.rows(piece, { name: 'account_id', value: scope.accountId });
    if (json === undefined) continue;
    const rows = await rowsOf(pool, exported(scope, month, json));
    if (rows.length > 0) yield rows;
  }
  yield* pagesOfMonth(pool, scope, month);
  const now = await archive.pieces(RECEIPTS, spanOf(scope, month));
  if (now.length !== archived.length) throw new Error(`Receipts of ${month} were archived while they were exported`);
}

const spanOf = ({ accountId }: ReceiptScope, month: string) => ({ accountId, from: monthStart(month), to: monthEnd(month) });

const lastPlaceOf = (pieces: readonly ArchivedPiece[]): bigint | null =>
  pieces.reduce<bigint | null>((last, { log_to: place }) => (place !== null && (last === null || place > last) ? place : last), null);

async function* pagesOfMonth(pool: Pool, scope: ExportScope, month: string): AsyncGenerator<ReceiptRow[]> {
  let after: ReceiptRow | undefined;
  for (;;) {
    const rows = await rowsOf(
      pool,
      exported(scope, month)
        .where(() => ifGiven(after?.receipt_id, afterReceipt))
        .limit(AT_ONCE),
    );
    if (rows.length > 0) yield rows;
    after = rows.at(-1);
    if (rows.length < AT_ONCE) return;
  }
}

const lineOf = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
