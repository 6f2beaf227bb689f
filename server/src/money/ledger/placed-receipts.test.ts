import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JournalEntry } from '../../adapters/lanes/port.ts';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import {
  appendAll,
  auditLog,
  LogPlacing,
  newSigningSeed,
  publishOwnKeys,
  resumeLog,
  signingKeyFromSeed,
  standingOfLog,
  stopsOf,
} from '../../receipts/index.ts';
import { newestCheckpoint } from '../../receipts/log/read-log.ts';
import { sealKeyOf } from '../../receipts/seal.ts';
import { keptInMemory } from '../../receipts/testing/receipts.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from './sample-records.ts';
import { pagesWith } from './testing/pages.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
const own = { receipt: [key], checkpoint: [logKey] };
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  await publishOwnKeys(pool, own, NOW);
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, receipt_log_stops');
  await pool.query('update receipt_log set size = 0');
  await pool.query('update receipt_log_audit set next_index = 0, new_index = 0, found = 0, last_found = 0');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const logDeps = () => ({ pool, keys: [logKey], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() });

/** A gateway that settles requests of one account. */
function gateway() {
  const placing = new LogPlacing(logDeps());
  const accountId = newId();
  const refused: JournalEntry[] = [];
  const settle = async (count: number): Promise<void> => {
    const entries = Array.from({ length: count }, () => sampleEntry(sampleRecord({ accountId })));
    const writer = new LedgerWriter({
      ...{
        feed: new MemoryFeed(entries),
        pool,
        archive: emptyArchive(pool),
        pages: pagesWith(sealKeyOf(logKey)),
        log: silentLog(),
        placing,
      },
      onQuarantine: (entry) => refused.push(entry),
    });
    await writer.drain();
  };
  return { settle, refused };
}

async function places(): Promise<{ placed: number[]; waiting: number }> {
  const { rows } = await pool.query<{ log_index: bigint | null }>('select log_index from receipts order by log_index');
  const placed = rows.flatMap(({ log_index: index }) => (index === null ? [] : [Number(index)]));
  return { placed, waiting: rows.length - placed.length };
}
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

async function faults(): Promise<number> {
  let found = -1;
  const onFound = (count: number) => {
    found = count;
  };
  await auditLog({ pool, archive: emptyArchive(pool), own, clock: { now: () => NOW }, log: silentLog(), onFound, share: 1 }, FOREVER);
  return found;
}

test('a receipt is in the log from the transaction that writes it, and its row is never written again', async () => {
  const { settle } = gateway();
  for (const count of [1, 3, 300, 20]) await settle(count);
  expect(await places()).toEqual({ placed: upTo(324), waiting: 0 });
  expect((await newestCheckpoint(pool)).size).toBe(324);
  expect(await faults()).toBe(0);
  // A row that was written twice has left a dead one before it.
  const { rows } = await pool.query<{ first: string }>(
    `select min((ctid::text::point)[1])::text as first from receipts where (ctid::text::point)[0] = 0`,
  );
  expect(rows).toEqual([{ first: '1' }]);
});

test('two gateways, one that appends what waits, and one that declares share one log', async () => {
  const [one, other] = [gateway(), gateway()];
  await Promise.all([one.settle(40), other.settle(40), appendAll(logDeps(), FOREVER), one.settle(5), other.settle(300)]);
  expect(await places()).toEqual({ placed: upTo(385), waiting: 0 });
  expect(await faults()).toBe(0);
});

test('while the log is stopped receipts wait, sealed, and are taken in when it goes on', async () => {
  const { settle, refused } = gateway();
  await settle(2);
  await pool.query(`insert into receipt_log_stops (reason, stopped_at) values ('somebody looks', now())`);
  await settle(3);
  expect(await places()).toEqual({ placed: upTo(2), waiting: 3 });
  await resumeLog(pool, own, (await standingOfLog(pool, own)).root);
  await settle(1);
  await appendAll(logDeps(), FOREVER);
  expect(await places()).toEqual({ placed: upTo(6), waiting: 0 });
  expect(refused).toEqual([]);
  expect(await faults()).toBe(0);
});

test.each([
  ['another size', 'update receipt_log set size = 1'],
  ['another note', `update receipt_log_checkpoints set note = replace(note, E'\\n2\\n', E'\\n3\\n')`],
  ['no newest state', 'delete from receipt_log_checkpoints'],
  ['more hashes', `insert into receipt_log_tiles values (0, 2, sha256('x'))`],
])('where the database has %s than was signed, the log stops, and no settlement is refused for it', async (_, forgery) => {
  const { settle, refused } = gateway();
  await settle(2);
  await pool.query(forgery);
  await settle(2);
  expect(await places()).toEqual({ placed: upTo(2), waiting: 2 });
  expect(await stopsOf(pool)).toHaveLength(1);
  expect(refused).toEqual([]);
});
