import { setTimeout as delay } from 'node:timers/promises';
import { completedBy, leafHash, nodesOf, rangeHash, TILE_HEIGHT, type TreeNode } from '@tallygate/receipts';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Archive } from '../../archive/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import { inSnapshot } from '../../kernel/transaction.ts';
import { breather } from '../../kernel/turn.ts';
import { allOf, type OwnKeys } from '../own-keys.ts';
import { type OwnRecords, ownRecords } from '../own-records.ts';
import { tables } from '../tables.ts';
import { auditKeys, type PublishedOwnKey } from './audit-keys.ts';
import { AUDITED_COLUMNS, type AuditedReceipt, auditedReceipt } from './audit-receipt.ts';
import { type DeclarationRow, declarationsAt } from './declarations.ts';
import { digestOfDeclaration } from './declare.ts';
import { documentsAt, type PlacedDocument } from './documents.ts';
import type { Fault } from './fault.ts';
import { stopLog } from './log-stops.ts';
import { ownCheckpoint, readLogRow } from './own-state.ts';
import { type Entries, receiptsAt } from './receipts-at.ts';
import { nameOf, sha256, storedNodes } from './stored-tree.ts';

interface AuditDeps {
  readonly pool: Pool;
  readonly archive: Archive;
  /** The keys that this service is configured with: those in the database are as whoever wrote there last wants them. */
  readonly own: OwnKeys;
  readonly clock: Clock;
  readonly log: Log;
  /** Told how much this pass, or the last whole one, has found that is not as it was signed. */
  readonly onFound: (count: number) => void;
  /** Told after each step how far the audit is. */
  readonly onProgress?: ((progress: AuditProgress) => void) | undefined;
  /** Whether a part of all of it is gone through once more, beside what is new. Default: it is. */
  readonly isAgainDue?: () => boolean;
  /** Of a core: so much of it the audit takes, and rests for the others. */
  readonly share?: number;
  /** Waits so many milliseconds, or until the signal. Default: by a timer. */
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** In entries of the log. */
export interface AuditProgress {
  /** Of the log. */
  readonly size: number;
  /** Up to where everything has been checked once. */
  readonly checked: number;
  /** Up to where the pass of now over all of it has come. */
  readonly again: number;
}

/** Entries that are checked together. */
const AT_ONCE = 256;
/**
 * How often a part of all of it is gone through once more, however fast the log grows: runs for what is new follow each other under load, and
 * to check the old in each of them would take several times as much of the gateway as to check the new.
 */
export const AGAIN_EVERY_MS = 60_000;
const PARTS_A_DAY = 86_400_000 / AGAIN_EVERY_MS;
/** So many blocks of a small log at once; of a larger one so many that all of it is gone through within a day. */
const LEAST_BLOCKS_AGAIN = 16;

export const blocksAgain = (size: number): number => Math.max(LEAST_BLOCKS_AGAIN, Math.ceil(size / AT_ONCE / PARTS_A_DAY));

const SHARE = 0.2;
/**
 * Milliseconds that reading an entry takes beside its checking, at the gateway and in PostgreSQL. While the audit waits for an answer others work,
 * so it cannot be measured on the way.
 */
export const READING_MS = 0.028;
const MICROS_PER_MS = 1000;

/** SQL: whether a block of new entries waits to be checked. */
export const ENTRIES_UNAUDITED = `(select size from receipt_log) - (select new_index from receipt_log_audit) >= ${AT_ONCE}`;

/**
 * Checks the log against itself: what is new, however fast the log grows, and then, where that is due, a part of all of it, from the beginning
 * again after its end.
 * That every receipt is what was digested and taken in, and stands where its owner finds it; every hash of a tile that of what is below it; every
 * checkpoint the root of the log at its size, signed; and, each run, that the published keys are those of this service. What was altered in the
 * database is found within a pass, said at the level of errors, and stops the log, unless somebody has seen it and resumed.
 */
export async function auditLog(deps: AuditDeps, signal: AbortSignal): Promise<void> {
  const { pool, onFound, isAgainDue = () => true, share = SHARE, rest = byTimer } = deps;
  const { records, audited, size } = await snapshot(pool, deps.own);
  const report = reporter(deps, records);
  const ofKeys = await report(audited.faults);
  const check = async (start: number): Promise<number> => {
    const end = Math.min(start + AT_ONCE, size);
    const startedTick = performance.now();
    const { faults, workedMs } = await checkedBlock(deps, { start, end }, audited.keys);
    const unseen = await report(faults.map((fault) => ({ fault, seen: `fault ${fault}` })));
    if (unseen > 0) await pool.query('update receipt_log_audit set found = found + $1', [unseen]);
    // The time that it waited for the database and for a core counts as rest.
    if (share < 1) await rest((workedMs + (end - start) * READING_MS) / share - (performance.now() - startedTick), signal);
    return end;
  };
  await checkNew({ ...deps, size, check }, signal);
  if (isAgainDue()) await checkAgain({ ...deps, size, check }, signal);
  const known = await firstOf(pool, tables.selectFrom('receipt_log_audit').select(sql<number>`greatest(found, last_found)`.as('most')));
  onFound((known?.most ?? 0) + ofKeys);
}

interface Checking extends Pick<AuditDeps, 'pool' | 'onProgress'> {
  readonly size: number;
  /** Checks a block. @returns where it ends */
  readonly check: (start: number) => Promise<number>;
}

async function checkNew({ pool, onProgress, size, check }: Checking, signal: AbortSignal): Promise<void> {
  // A log that was put back has fewer entries than were checked.
  await pool.query('update receipt_log_audit set new_index = $1 where new_index > $1', [size]);
  for (;;) {
    const progress = { size, ...(await auditProgress(pool)) };
    onProgress?.(progress);
    if (progress.checked >= size || signal.aborted) return;
    await pool.query('update receipt_log_audit set new_index = $1', [await check(progress.checked)]);
  }
}

async function checkAgain({ pool, onProgress, size, check }: Checking, signal: AbortSignal): Promise<void> {
  for (let block = 0; block < blocksAgain(size) && !signal.aborted; block += 1) {
    const { again, checked } = await auditProgress(pool);
    if (again >= size) {
      await pool.query('update receipt_log_audit set next_index = 0, found = 0, last_found = found');
      return;
    }
    const end = await check(again);
    await pool.query('update receipt_log_audit set next_index = $1', [end]);
    onProgress?.({ size, checked, again: end });
  }
}

/** How far the audit is. */
export async function auditProgress(pool: Pool): Promise<Omit<AuditProgress, 'size'>> {
  const audited = await firstOf(pool, tables.selectFrom('receipt_log_audit').select(['next_index', 'new_index']));
  return { checked: Number(audited?.new_index ?? 0), again: Number(audited?.next_index ?? 0) };
}

/** Says each fault once a run. @returns how many of them nobody has seen yet */
function reporter({ pool, clock, log }: AuditDeps, records: OwnRecords): (faults: readonly Fault[]) => Promise<number> {
  const said = new Set<string>();
  return async (faults) => {
    const unseen = faults.filter(({ fault, seen }) => !records.has(seen) && !said.has(fault));
    for (const { fault } of unseen) {
      said.add(fault);
      log.error({ fault }, 'the log of receipts is not as it was signed');
    }
    await stopLog(
      { pool, clock, log },
      unseen.map(({ fault, seen }) => ({ reason: fault, seen })),
    );
    return unseen.length;
  };
}

/** Until the time is over, or the run is to end. */
const byTimer = (ms: number, signal: AbortSignal): Promise<void> => delay(Math.max(0, ms), undefined, { signal }).catch(() => {});

/** Keys, records and size of one moment: what is in the log by then was signed with keys that were published by then. */
const snapshot = (pool: Pool, own: OwnKeys) =>
  inSnapshot(pool, async (client) => {
    const records = await ownRecords(client, allOf(own));
    const audited = await auditKeys(client, own, records);
    const { size } = await readLogRow(client);
    return { records, audited, size };
  });

/** CPU time of this thread: to wait for a core that others have is no work. */
function ownCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROS_PER_MS;
}

interface CheckedBlock {
  readonly faults: readonly string[];
  /** CPU time of the checking, without that of reading. */
  readonly workedMs: number;
}

async function checkedBlock(
  { pool, archive }: Pick<AuditDeps, 'pool' | 'archive'>,
  { start, end }: Entries,
  keys: readonly PublishedOwnKey[],
): Promise<CheckedBlock> {
  const [declared, documents] = [await declarationsAt(pool, { start, end }), await documentsAt(pool, { start, end })];
  const others = declared.size + documents.size;
  const byIndex = await receiptsAt({ pool, archive }, { start, end }, (placed) => placed.select(AUDITED_COLUMNS), others);
  const stored = await storedNodes(pool, nodesBeside(start, end));
  const made = new Map<string, Uint8Array>();
  const faults: string[] = [];
  const hashOf = (node: TreeNode): Uint8Array => made.get(nameOf(node)) ?? stored(node) ?? new Uint8Array();
  const breathe = breather();
  let [workedMs, since] = [0, ownCpuMs()];
  for (let index = start; index < end; index += 1) {
    const turn = breathe();
    if (turn !== undefined) {
      workedMs += ownCpuMs() - since;
      await turn;
      since = ownCpuMs();
    }
    const entry = auditedEntry(index, { receipt: byIndex.get(index), declared: declared.get(index), document: documents.get(index) });
    if (!entry) {
      faults.push(`entry ${index} has no receipt, no declaration and no document`);
      continue;
    }
    faults.push(...entry.faults);
    for (const node of completedBy({ index, hash: leafHash(entry.digest, sha256) }, hashOf, sha256)) {
      made.set(nameOf(node), node.hash);
      if (!isAsStored(node, stored)) faults.push(`node ${nameOf(node)} is not the hash of what is below it`);
    }
  }
  workedMs += ownCpuMs() - since;
  const logKeys = keys.filter(({ purpose }) => purpose === 'checkpoint');
  return { faults: [...faults, ...(await checkpointFaults(pool, { start, end, hashOf }, logKeys))], workedMs };
}

interface AuditedEntry {
  /** Of what is stored. */
  readonly digest: Buffer;
  readonly faults: readonly string[];
}

interface StoredEntry {
  readonly receipt: AuditedReceipt | undefined;
  readonly declared: DeclarationRow | undefined;
  readonly document: PlacedDocument | undefined;
}

/** Of what is stored at this place. Undefined where nothing is. */
function auditedEntry(index: number, { receipt, declared, document }: StoredEntry): AuditedEntry | undefined {
  const found: AuditedEntry[] = [];
  if (receipt) found.push(auditedReceipt(receipt));
  if (declared) found.push(auditedDeclaration(declared));
  if (document) found.push(auditedDocument(document));
  const [first, ...more] = found;
  return first && more.length > 0 ? { ...first, faults: [...first.faults, `entry ${index} is there twice`] } : first;
}

function auditedDeclaration({ log_index: index, declaration, digest: stated }: DeclarationRow): AuditedEntry {
  const digest = digestOfDeclaration(JSON.parse(declaration));
  return { digest, faults: digest.equals(stated) ? [] : [`the digest of entry ${index} is not that of its declaration`] };
}

const auditedDocument = ({ kind, document_id: id, digest: stated, now: digest }: PlacedDocument): AuditedEntry => ({
  digest,
  faults: digest.equals(stated) ? [] : [`the digest of ${kind} ${id} is not that of its text`],
});

/** Of the tree every eighth level is stored: the nodes between are what those below them hash to. */
const isAsStored = (node: TreeNode & { readonly hash: Uint8Array }, stored: (node: TreeNode) => Uint8Array | undefined): boolean =>
  node.level % TILE_HEIGHT !== 0 || Buffer.from(node.hash).equals(stored(node) ?? new Uint8Array());

/** The nodes that the entries complete, and those to the left of them that make roots. */
function nodesBeside(start: number, end: number): TreeNode[] {
  const nodes = nodesOf({ start: 0, end: start });
  for (let leaf = start; leaf < end; leaf += 1) {
    nodes.push({ level: 0, index: leaf });
    for (let level = 1, index = leaf; index % 2 === 1; level += 1) {
      index = (index - 1) / 2;
      nodes.push({ level, index });
    }
  }
  return nodes;
}

interface Block extends Entries {
  readonly hashOf: (node: TreeNode) => Uint8Array;
}

async function checkpointFaults(pool: Pool, { start, end, hashOf }: Block, keys: readonly PublishedOwnKey[]): Promise<string[]> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom(['receipt_log_checkpoints as c', 'receipt_log'])
      .select(['c.size', 'c.root', 'c.note', 'receipt_log.origin'])
      .where('c.size', '>', BigInt(start))
      .where('c.size', '<=', BigInt(end)),
  );
  return rows.flatMap(({ size: wide, root, note, origin }) => {
    const size = Number(wide);
    const signed = ownCheckpoint(note, origin, keys);
    if (!signed) return [`the checkpoint of ${size} entries is not signed by a key of this service`];
    const isOfRoot = root.equals(rangeHash({ start: 0, end: size }, hashOf, sha256));
    return isOfRoot && signed.size === size && root.equals(signed.root)
      ? []
      : [`the checkpoint of ${size} entries does not have their root`];
  });
}
