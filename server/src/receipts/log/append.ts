import { sign } from 'node:crypto';
import { type Checkpoint, checkpointText, completedBy, leafHash, rangeHash, signatureLine, type TreeNode } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type RowOf, rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Receipt } from '../entities.ts';
import { digestOf } from '../issue-receipt.ts';
import { isSealed, sealKeyOf } from '../seal.ts';
import type { SigningKey } from '../signing-keys.ts';
import { tables } from '../tables.ts';
import { placeDocuments, setDocumentsAside, sortDocuments, WAITS, waitingDocuments } from './documents.ts';
import { type KeptState, mustContinue } from './kept-state.ts';
import { LogStop, stopLog, stopsOf } from './log-stops.ts';
import { noteKeyOf, ownNewestState, readLogRow } from './own-state.ts';
import { nameOf, sha256 } from './stored-tree.ts';
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
export async function appendReceipts({ pool, keys, kept, clock, log }: AppendDeps): Promise<number> {
  try {
    const { read, unsealed, note } = await inTransaction(pool, (client) => appendIn(client, { keys, kept, clock }));
    // Not before: a state that was signed and not committed never was.
    if (note !== undefined) await kept.keep(note);
    if (unsealed.length > 0) log.fatal({ receipts: unsealed }, `somebody else than the gateway has written receipts. ${HOW_TO_LOOK}`);
    return read;
  } catch (error) {
    if (error instanceof LogStop) await stopLog({ pool, clock, log }, [{ reason: error.message, seen: error.seen }]);
    throw error;
  }
}

const HOW_TO_LOOK =
  'They are set aside and not in the log: `npm run admin -- log-unsealed` (docs/guides/receipts.md, "Receipts that nobody sealed").';

/** SQL: whether a receipt, or another document, waits for {@link appendAll}. */
export const RECEIPTS_UNLOGGED = `(exists (select from receipts where log_index is null) or exists (select from log_documents where ${WAITS}))`;

/** Everything that waits. */
export async function appendAll(deps: AppendDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await appendReceipts(deps)) === AT_ONCE);
}

const WAITING = ['receipt_id', 'payload', 'digest', 'seal'] as const;
type WaitingReceipt = Readonly<Pick<RowOf<typeof Receipt>, (typeof WAITING)[number]>>;

/** The digest is of the payload, the payload of this receipt, and the ledger's writer has sealed it. */
const isAsWritten = ({ receipt_id: id, payload, digest, seal }: WaitingReceipt, sealKeys: readonly Buffer[]): boolean =>
  isSealed(sealKeys, digest, seal) && digestOf(payload).equals(digest) && payload.includes(`"receipt_id":"${id}"`);

interface Appended {
  /** How many waited. */
  readonly read: number;
  /** Ids of those that were set aside. */
  readonly unsealed: readonly string[];
  /** Of the state that was signed. */
  readonly note?: string;
}

async function appendIn(client: PoolClient, { keys, kept, clock }: Pick<AppendDeps, 'keys' | 'kept' | 'clock'>): Promise<Appended> {
  const log = await readLogRow(client, { isToGrow: true });
  if ((await stopsOf(client)).length > 0) return { read: 0, unsealed: [] };
  // Before the receipts: whatever a document says of receipts, those are among the ones read after it, and stand before it in the log.
  const documents = await waitingDocuments(client);
  const waiting = await rowsOf(
    client,
    tables.selectFrom('receipts').select(WAITING).where('log_index', 'is', null).orderBy('receipt_id').limit(AT_ONCE),
  );
  if (waiting.length + documents.length === 0) return { read: 0, unsealed: [] };

  await mustContinue(client, log, kept, keys);
  const state = await ownNewestState(client, log, keys);
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
  const oldSize = log.size;
  const added = new Map<string, TreeNode & { hash: Uint8Array }>();
  const hashOf = (node: TreeNode) => added.get(nameOf(node))?.hash ?? state?.hashOf(node) ?? missing(node);
  for (const [at, { digest }] of [...sealed, ...taken].entries()) {
    const leaf = { index: oldSize + at, hash: leafHash(digest, sha256) };
    for (const node of completedBy(leaf, hashOf, sha256)) added.set(nameOf(node), node);
  }
  const size = oldSize + sealed.length + taken.length;
  const root = rangeHash({ start: 0, end: size }, hashOf, sha256);

  const nodes = [...added.values()];
  await client.query('insert into receipt_log_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])', [
    nodes.map(({ level }) => level),
    nodes.map(({ index }) => index),
    nodes.map(({ hash }) => hash),
  ]);
  await client.query(
    `update receipts set log_index = placed.index, seal = null
      from unnest($1::uuid[]) with ordinality as placed_receipts (receipt_id, place),
        lateral (select $2::bigint + place - 1 as index) placed
      where receipts.receipt_id = placed_receipts.receipt_id`,
    [sealed.map(({ receipt_id }) => receipt_id), oldSize],
  );
  await placeDocuments(client, taken, oldSize + sealed.length);
  await client.query('update receipt_log set size = $1', [size]);
  const note = checkpointNote({ origin: log.origin, size, root }, keys);
  await client.query('insert into receipt_log_checkpoints (size, root, note, created_at) values ($1, $2, $3, $4)', [
    size,
    root,
    note,
    new Date(clock.now()),
  ]);
  return { read: waiting.length, unsealed, note };
}

function missing(node: TreeNode): never {
  throw new Error(`An empty log has no node ${nameOf(node)}`);
}

/** The state with the signature of every key. */
export function checkpointNote(checkpoint: Checkpoint, keys: readonly SigningKey[]): string {
  const text = checkpointText(checkpoint);
  const lines = keys.map((key) => signatureLine(noteKeyOf(checkpoint.origin, key), sign(null, Buffer.from(text), key.privateKey)));
  return `${text}\n${lines.join('')}`;
}
