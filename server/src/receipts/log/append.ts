import type { Declaration } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { ADMIN } from '../../kernel/admin-command.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type RowOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Receipt } from '../entities.ts';
import { digestOf } from '../issue-receipt.ts';
import { readablePayload, UNPACKED_COLUMNS } from '../packed-receipt.ts';
import { isSealed, sealKeyOf } from '../seal.ts';
import type { SigningKey } from '../signing-keys.ts';
import { tables } from '../tables.ts';
import { declareHeld } from './declare.ts';
import { placeDocuments, setDocumentsAside, sortDocuments, WAITS, waitingDocuments } from './documents.ts';
import { growLog, holdLog, lockLog } from './grow-log.ts';
import type { KeptState } from './kept-state.ts';
import { LogStop, stopLog } from './log-stops.ts';
import { setAside } from './unsealed.ts';

/** Receipts that one transaction takes in. */
const AT_ONCE = 1_000;

export interface AppendDeps {
  readonly pool: Pool;
  /** Sign checkpoints and nothing else; every one of them signs each, so that either side of a change of keys is enough to check it. */
  readonly keys: readonly SigningKey[];
  readonly kept: KeptState;
  readonly clock: Clock;
  readonly log: Log;
  /** What has to stand in the log before the receipts that wait: keys that were published while it was stopped. */
  readonly undeclared?: (client: PoolClient) => Promise<readonly Declaration[]>;
}

/**
 * Takes the receipts that are not in the log yet, and signs what the log has become. Whoever does so holds the one row of the log until it is
 * committed: leaves, nodes, size and checkpoint come to be together or not at all, and never two logs of one size.
 *
 * What the ledger's writer has not sealed is set aside and never taken in.
 *
 * @returns how many waited; with as many as {@link AT_ONCE} there may be more. None while the log is stopped
 * @throws LogStop where what was signed last is not what is there: from then on the log is stopped
 */
export async function appendReceipts(deps: AppendDeps): Promise<number> {
  const { pool, kept, clock, log } = deps;
  try {
    const { read, unsealed, note } = await inTransaction(pool, (client) => appendIn(client, deps));
    // Not before: a state that was signed and not committed never was.
    if (note !== undefined) await kept.keep(note);
    if (unsealed.length > 0) log.fatal({ receipts: unsealed }, `somebody else than the gateway has written receipts. ${HOW_TO_LOOK}`);
    return read;
  } catch (error) {
    if (error instanceof LogStop) await stopLog({ pool, clock, log }, [{ reason: error.message, seen: error.seen }]);
    throw error;
  }
}

const HOW_TO_LOOK = `They are set aside and not in the log: \`${ADMIN} log-unsealed\` (docs/guides/receipts.md, "Receipts that nobody sealed").`;

/** How many receipts wait for {@link appendAll}. */
export async function unloggedReceipts(pool: Pool): Promise<number> {
  const count = tables
    .selectFrom('receipts')
    .where('log_index', 'is', null)
    .select((eb) => eb.fn.countAll<string>().as('waiting'));
  const [row] = await rowsOf(pool, count);
  return Number(row?.waiting ?? 0);
}

/** SQL: whether a receipt, or another document, waits for {@link appendAll}. */
export const RECEIPTS_UNLOGGED = `(exists (select from receipts where log_index is null) or exists (select from log_documents where ${WAITS}))`;

/** Everything that waits. */
export async function appendAll(deps: AppendDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await appendReceipts(deps)) === AT_ONCE);
}

const WAITING = [...UNPACKED_COLUMNS, 'digest', 'seal'] as const;
type WaitingReceipt = Readonly<Pick<RowOf<typeof Receipt>, (typeof WAITING)[number]>>;

/** The digest is of the payload, the payload of this receipt, and the ledger's writer has sealed it. */
function isAsWritten({ digest, seal, ...row }: WaitingReceipt, sealKeys: readonly Buffer[]): boolean {
  const payload = readablePayload(row);
  return isSealed(sealKeys, digest, seal) && digestOf(payload).equals(digest) && payload.includes(`"receipt_id":"${row.receipt_id}"`);
}

interface Appended {
  /** How many waited. */
  readonly read: number;
  /** Ids of those that were set aside. */
  readonly unsealed: readonly string[];
  /** Of the state that was signed. */
  readonly note?: string;
}

async function appendIn(client: PoolClient, { keys, kept, clock, undeclared = async () => [] }: AppendDeps): Promise<Appended> {
  const log = await lockLog(client);
  if (!log) return { read: 0, unsealed: [] };
  // Before the receipts: whatever a document says of receipts, those are among the ones read after it, and stand before it in the log.
  const documents = await waitingDocuments(client);
  const waiting = await waitingReceipts(client);
  if (waiting.length + documents.length === 0) return { read: 0, unsealed: [] };
  const held = await holdLog(client, log, { keys, kept });
  // Not before: a gateway with other keys than the log's would set aside what is in order.
  const sealKeys = keys.map(sealKeyOf);
  const sealed = waiting.filter((row) => isAsWritten(row, sealKeys));
  const isTaken = new Set(sealed);
  const unsealedReceipts = waiting.filter((row) => !isTaken.has(row)).map(({ receipt_id: id }) => id);
  await setAside(client, unsealedReceipts, clock);
  // More receipts wait than one transaction takes in: a document has to wait for all of them.
  const { taken, refused } = sortDocuments(waiting.length < AT_ONCE ? documents : [], sealKeys);
  await setDocumentsAside(client, refused, clock);
  const unsealed = [...unsealedReceipts, ...refused];
  if (sealed.length + taken.length === 0) return { read: waiting.length, unsealed };
  const declared = await declareHeld(client, held, await undeclared(client));
  const firstReceipt = held.size + declared.length;
  await client.query(
    `update receipts set log_index = placed.index, seal = null
      from unnest($1::uuid[]) with ordinality as placed_receipts (receipt_id, place),
        lateral (select $2::bigint + place - 1 as index) placed
      where receipts.receipt_id = placed_receipts.receipt_id`,
    [sealed.map(({ receipt_id }) => receipt_id), firstReceipt],
  );
  await placeDocuments(client, taken, firstReceipt + sealed.length);
  const digests = [...declared, ...[...sealed, ...taken].map(({ digest }) => digest)];
  const { note } = await growLog(client, held, digests, { keys, clock });
  return { read: waiting.length, unsealed, note };
}

function waitingReceipts(client: PoolClient): Promise<WaitingReceipt[]> {
  const waiting = tables.selectFrom('receipts').select(WAITING).where('log_index', 'is', null);
  return rowsOf(client, waiting.orderBy('receipt_id').limit(AT_ONCE));
}
