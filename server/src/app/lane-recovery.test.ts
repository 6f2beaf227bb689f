import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { journalNameOf } from '../adapters/lanes/journal-name.ts';
import type { HoldRequest, MoneyLane, SettlementFeed } from '../adapters/lanes/port.ts';
import { LaneEpochs } from '../adapters/lanes/redis/lane-epochs.ts';
import { partitionKey, partitionOf } from '../adapters/lanes/redis/partitions.ts';
import { ScratchJournals } from '../adapters/lanes/testing/scratch-journals.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { connectRedis, type RedisConnection, ready } from '../adapters/redis/connect.ts';
import { type RedisProcess, startRedis } from '../adapters/redis/redis-process.ts';
import { startWatchedRedis } from '../adapters/redis/redis-sentinel-process.ts';
import { testRedisProgram } from '../adapters/redis/test-redis.ts';
import { emptyArchive } from '../archive/testing/archives.ts';
import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { contradictions } from '../money/ledger/contradictions.ts';
import { LedgerLaneSource, LedgerWriter, repairLanes } from '../money/ledger/index.ts';
import { lanesOfRecord } from '../money/ledger/lanes-of-record.ts';
import { sampleRecord } from '../money/ledger/sample-records.ts';
import type { SettlementRecord } from '../money/ledger/settlement-record.ts';
import { settleOn } from '../money/ledger/testing/ledger.ts';
import { testPages } from '../money/ledger/testing/pages.ts';
import { Closing } from './closing.ts';
import { openLaneRecovery } from './lane-recovery.ts';
import { LANES_PREFIX, sharedLanes } from './lane-stores.ts';
import { createMetrics } from './metrics.ts';
import { openQuarantine, Quarantine } from './quarantine.ts';
import { reconcileByOperator } from './reconcile-command.ts';

/** A recovery waits for gateways that were alive a moment ago, and a sentinel tries again after twenty seconds. */
const RECOVERED = { timeout: 60_000, interval: 20 };

/** Nothing is credited to an account that pays by invoice, so that its caps alone limit it. */
const invoicedRecord = (wish: Partial<SettlementRecord> = {}) => sampleRecord({ funding: 'invoice', ...wish });

/** Longer than any test takes: a gateway counts as dead only when a test marks it. */
const ABSENCE_MS = 600_000;

const journals = new ScratchJournals();
const running: { stop(): Promise<void> }[] = [];
let server: RedisProcess;
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let redis: RedisConnection;

interface GatewayOptions {
  /** Of the journal of an earlier process. */
  readonly dir?: string;
  readonly redis?: RedisConnection;
  readonly pool?: Pool;
  readonly neededAmong?: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** A gateway as far as it holds and settles. */
async function gateway({ dir, redis: prompt = redis, pool: own = pool, neededAmong }: GatewayOptions = {}) {
  const journal = journals.open(dir);
  const closing = new Closing(silentLog());
  const foundation = { pool: own, archive: emptyArchive(own), log: silentLog(), closing };
  const metrics = createMetrics();
  const quarantine = openQuarantine({
    dataDir: { path: journal.dir, file: () => journal.dir, release: () => {} },
    metrics,
    log: silentLog(),
  });
  const recording = {
    ...{ journal, journalName: journalNameOf(journal.dir), absenceMs: ABSENCE_MS, onDamage: quarantine.onDamage },
    ...(neededAmong && { neededAmong }),
  };
  const shared = sharedLanes({ prompt }, new LedgerLaneSource(pool), recording, foundation);
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const writerOf = (from: SettlementFeed) =>
    new LedgerWriter({
      ...{ feed: from, pool: own, archive: emptyArchive(own), log: silentLog(), onQuarantine },
      pages: testPages,
    });
  const writer = writerOf(shared.feed);
  let isGone = false;
  /** Ends in order: what the stream and the journal have is written. */
  const stop = async () => {
    if (isGone) return;
    isGone = true;
    await writer.close().catch(() => {});
    await closing.close();
  };
  await openLaneRecovery({ shared, journal, writer, writerOf }, foundation);
  running.push({ stop });
  return {
    ...{ journal, stop, lanes: shared.lanes, epochs: shared.epochs, id: recording.journalName, metrics, quarantine },
    write: () => writer.drain(),
    /** As `kill -9` does, as far as others see it. */
    die: async () => {
      isGone = true;
      await shared.epochs.close();
    },
  };
}

type Gateway = Awaited<ReturnType<typeof gateway>>;

/** In order, and Redis is out of reach meanwhile. */
async function endWithoutRedis({ epochs, lanes, die }: Gateway): Promise<void> {
  const cut = vi.spyOn(epochs, 'current').mockImplementation(() => {
    throw new Error('out of reach');
  });
  await lanes.end(0);
  cut.mockRestore();
  await die();
}

const CAP = 1_000n;

/** A request of 100 nano-dollars on a key of a cap. */
const recordOf = (keyId: string, accountId: string): SettlementRecord => invoicedRecord({ keyId, accountId, held: '100', cost: '90' });

/** Takes it under the cap of its key; false where that has no room. */
async function take(
  { lanes }: Pick<Gateway, 'lanes'>,
  record: SettlementRecord,
  { keptUntil, inFlight }: Pick<HoldRequest, 'keptUntil' | 'inFlight'> = {},
): Promise<boolean> {
  const { lanes: ids, funds } = lanesOfRecord(record);
  const lane = (id: string | null, cap: bigint | null): MoneyLane => ({
    id: id ?? '',
    source: 'key',
    cap,
    capRule: 'given',
    resetsAt: null,
  });
  const outcome = await lanes.hold({
    ...{ holdId: record.receiptId, accountId: record.accountId, at: record.startedAt },
    ...(keptUntil !== undefined && { keptUntil }),
    ...(inFlight && { inFlight }),
    ...{ cost: { fixed: BigInt(record.held) * 1_000n, perOutputToken: 0n }, outputTokens: { wanted: 0, least: 0 }, units: {}, quota: null },
    ...{ lanes: ids.map((id) => lane(id, CAP)), funds: lane(funds, null) },
  });
  return outcome.held;
}

const bound = (record: SettlementRecord) => ({
  ...{ holdId: record.receiptId, cost: BigInt(record.held), units: {} },
  record: JSON.stringify({ ...record, outcome: 'abandoned', cost: record.held }),
});

const settlement = (record: SettlementRecord) => ({
  ...{ holdId: record.receiptId, cost: BigInt(record.cost), units: {} },
  record: JSON.stringify(record),
});

const bookedOf = async (requestId: string) => {
  const { rows } = await pool.query<{ outcome: string; cost_nano: string }>(
    'select outcome, cost_nano::text from usage_records where request_id = $1',
    [requestId],
  );
  return rows;
};

const spentOf = async ({ lanes }: Gateway, record: SettlementRecord) => {
  const [state] = (await lanes.inspect(lanesOfRecord(record).lanes)).values();
  return { spent: state?.spent, held: state?.held };
};

/** The session of a gateway in its place: it has another one after each lapse. */
async function tokenOf({ id }: Gateway): Promise<number> {
  const { rows } = await pool.query<{ token: number }>('select token::int from gateway_sessions where gateway = $1', [id]);
  return rows[0]?.token ?? 0;
}

/** It has given no sign of life for so long that an epoch is opened without it. */
const takeForDead = ({ id }: Gateway) =>
  pool.query("update gateway_sessions set seen_at = now() - interval '1 hour' where gateway = $1", [id]);

/** A database that a gateway can be cut off from. */
function cuttable() {
  const own = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  const { query, connect } = own;
  const cut = () => {
    own.query = own.connect = (() => Promise.reject(new Error('There is no way to the database'))) as never;
  };
  const heal = () => Object.assign(own, { query, connect });
  return { pool: own, cut, heal };
}

const epochNow = async () => (await pool.query<{ epoch: string; state: string }>('select epoch, state from lane_epoch')).rows[0];

async function lossesOf(): Promise<bigint> {
  const { rows } = await pool.query<{ sum: string }>(
    "select coalesce(-sum(amount_nano), 0)::text as sum from ledger_entries where account = 'operator_losses'",
  );
  return BigInt(rows[0]?.sum ?? 0);
}

/** What is settled meanwhile is not in the ledger afterwards, unless Redis or a journal still has it: a writer that waited would write it then. */
async function whileBookingFails(gateways: readonly Gateway[], work: () => Promise<void>): Promise<void> {
  await pool.query(`
    create function refuse_postings() returns trigger language plpgsql as $$ begin
      raise exception 'Nothing is booked now' using errcode = 'object_not_in_prerequisite_state';
    end $$;
    create trigger refuse_postings before insert on postings for each statement execute function refuse_postings()`);
  await work();
  // Behind the attempts that are running: what they have read is given up.
  await Promise.allSettled(gateways.map(({ write }) => write()));
  await pool.query('drop trigger refuse_postings on postings; drop function refuse_postings');
}

/** Callers at all gateways, who hold, call a provider and settle under one cap, until they are stopped. */
function load(gateways: readonly Gateway[]) {
  const [keyId, accountId] = [newId(), newId()];
  const settled: string[] = [];
  let isOver = false;
  let asked = 0;
  const caller = async (at: Gateway) => {
    while (!isOver) {
      const record = invoicedRecord({ keyId, accountId, held: '100', cost: `${60 + (asked % 40)}` });
      try {
        if (!(await take(at, record))) return;
        await at.lanes.begin(bound(record));
      } catch {
        await at.lanes.release(record.receiptId).catch(() => {});
        await pause(20);
        continue;
      }
      asked += 1;
      await pause(5);
      // As calls are that cannot be settled yet.
      await vi.waitFor(async () => (await at.lanes.settle(settlement(record))) && settled.push(record.requestId), RECOVERED);
    }
  };
  const callers = gateways.flatMap((at) => Array.from({ length: 3 }, () => caller(at)));
  return {
    sample: recordOf(keyId, accountId),
    settled,
    asked: () => asked,
    end: async () => {
      isOver = true;
      await Promise.all(callers);
    },
  };
}

/** Everything that was settled is in the ledger, no more than the cap, and the lanes say the same. */
async function expectSound({ sample, settled, asked }: ReturnType<typeof load>, gateways: readonly Gateway[]): Promise<void> {
  const [first] = gateways;
  if (!first) throw new Error('No gateway');
  const { spent, held } = await vi.waitFor(() => spentOf(first, sample), RECOVERED);
  for (const one of gateways) await one.stop();
  const { rows } = await pool.query<{ request_id: string; cost: string }>(
    'select request_id, cost_nano::text as cost from usage_records where key_id = $1',
    [sample.keyId],
  );
  const inLedger = rows.reduce((sum, { cost }) => sum + BigInt(cost), 0n);
  expect(new Set(rows.map(({ request_id }) => request_id))).toEqual(new Set(settled));
  expect([rows.length, inLedger <= CAP]).toEqual([asked(), true]);
  expect({ spent, held }).toEqual({ spent: inLedger, held: 0n });
}

describe.skipIf(testRedisProgram() === '')('lanes in Redis', () => {
  beforeAll(async () => {
    server = await startRedis(testRedisProgram());
  });

  beforeEach(async () => {
    database = await testDatabase();
    pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
    redis = connectRedis(server.url, silentLog(), 'prompt');
    await ready(redis);
    await redis.flushall();
  });

  afterEach(async () => {
    for (const { stop } of running.splice(0)) await stop();
    redis.disconnect();
    await pool.end();
    await database.drop();
  });

  afterAll(async () => {
    journals.remove();
    await server?.stop();
  });

  test('that are lost are in the ledger all the same, each settlement once', async () => {
    const one = await gateway();
    const [arrived, lost] = [invoicedRecord(), invoicedRecord()];
    await settleOn(one.lanes, arrived);
    await one.write();
    await settleOn(one.lanes, lost);
    await redis.flushall();
    await one.stop();
    for (const record of [arrived, lost]) expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'completed', cost_nano: '20' }]);
    expect(one.journal.isDrained()).toBe(true);
  });

  test('have a copy in the journal until the ledger has it', async () => {
    const one = await gateway();
    await settleOn(one.lanes, invoicedRecord());
    await one.write();
    expect(one.journal.isDrained()).toBe(false);
    await one.stop();
    expect(one.journal.isDrained()).toBe(true);
  });

  test('with a damaged stream entry quarantine it whole and once, and book the later entries', async () => {
    const one = await gateway();
    const record = invoicedRecord();
    const stream = `${partitionKey(LANES_PREFIX, partitionOf(record.accountId))}:settled`;
    const id = await redis.xadd(stream, '*', 'charged', '1', 'covered', 'torn');
    await settleOn(one.lanes, record);
    await redis.xadd(stream, '*', 'charged', '1');
    await one.write();
    expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'completed', cost_nano: '20' }]);
    expect(one.quarantine.waiting()).toBe(2);
    const [first] = new Quarantine(one.journal.dir).waiting();
    expect(first).toMatchObject({ segment: `${stream} ${id}`, damaged: '["charged","1","covered","torn"]' });
    expect((await one.metrics.render()).body).toMatch(/^tallygate_settlements_quarantined_total 2$/m);
    expect(await redis.xlen(stream)).toBe(0);
  });

  test('that are lost with their gateway charge what was in flight at its bound, once, when it starts again', async () => {
    const dead = await gateway();
    const [inFlight, settled] = [recordOf(newId(), newId()), recordOf(newId(), newId())];
    for (const record of [inFlight, settled]) {
      await take(dead, record);
      await dead.lanes.begin(bound(record));
    }
    await dead.lanes.settle(settlement(settled));
    await dead.die();
    await redis.flushall();
    for (let starts = 0; starts < 2; starts += 1) await (await gateway({ dir: dead.journal.dir })).stop();
    expect(await bookedOf(inFlight.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '100' }]);
    expect(await bookedOf(settled.requestId)).toEqual([{ outcome: 'completed', cost_nano: '90' }]);
  });

  test('charge what was in flight when only the gateway died, when it starts again', async () => {
    const dead = await gateway();
    const record = recordOf(newId(), newId());
    await take(dead, record);
    await dead.lanes.begin(bound(record));
    await dead.die();
    const next = await gateway({ dir: dead.journal.dir });
    expect(await spentOf(next, record)).toEqual({ spent: 100n, held: 0n });
    await next.stop();
    expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '100' }]);
  });

  test('charge a call once that was being handed over to another provider when its gateway died', async () => {
    const [dead, other] = [await gateway(), await gateway()];
    const record = recordOf(newId(), newId());
    await take(dead, record);
    await dead.lanes.begin(bound(record));
    const unwritten = vi.spyOn(dead.journal, 'begin').mockImplementation(() => {
      throw new Error('the process is dead');
    });
    await expect(dead.lanes.begin(bound({ ...record, attempt: 2 }))).rejects.toThrow('the process is dead');
    unwritten.mockRestore();
    await dead.die();
    // Its doubt has ended.
    await other.lanes.abandon(record.receiptId);
    await (await gateway({ dir: dead.journal.dir })).stop();
    expect(await spentOf(other, record)).toEqual({ spent: 100n, held: 0n });
    await other.stop();
    expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '100' }]);
  });

  test('charge nothing for a call that Redis did not begin, should its gateway die before it can say so', async () => {
    const [dead, other] = [await gateway(), await gateway()];
    const record = recordOf(newId(), newId());
    await take(dead, record);
    // Its lease has ended.
    await other.lanes.release(record.receiptId);
    await expect(dead.lanes.begin(bound(record))).rejects.toThrow('is lost');
    await dead.die();
    await (await gateway({ dir: dead.journal.dir })).stop();
    expect(await bookedOf(record.requestId)).toEqual([]);
  });

  test('give up what was not begun when they are lost: it may have been freed, and its room given away', async () => {
    const [a, b] = [await gateway(), await gateway()];
    const [keyId, accountId] = [newId(), newId()];
    const whole = (): SettlementRecord => invoicedRecord({ keyId, accountId, held: '1000', cost: '900' });
    const [freed, begun] = [whole(), whole()];
    await take(a, freed);
    // Its lease has ended.
    await b.lanes.release(freed.receiptId);
    expect(await take(b, begun)).toBe(true);
    await b.lanes.begin(bound(begun));
    await redis.flushall();
    await expect(take(b, whole())).rejects.toThrow('EPOCH');
    await vi.waitFor(async () => expect(await spentOf(b, begun)).toEqual({ spent: 0n, held: 1_000n }), RECOVERED);
    await expect(a.lanes.begin(bound(freed))).rejects.toThrow('no hold');
  });

  test.each(['recovering', 'declaring'])(
    'that are lost count what an earlier process had in flight before they are open, also where it starts while they are %s',
    async (state) => {
      const [dead, other] = [await gateway(), await gateway()];
      const [keyId, accountId] = [newId(), newId()];
      const whole = (): SettlementRecord => invoicedRecord({ keyId, accountId, held: '1000', cost: '900' });
      const inFlight = whole();
      await take(dead, inFlight);
      await dead.lanes.begin(bound(inFlight));
      await dead.die();
      await redis.flushall();
      // A gateway that is waited for, and is slow.
      const slow = newId();
      await pool.query(
        "insert into gateway_sessions (gateway, process, seen_at, is_late) values ($1, $1, now() + interval '1 minute', false)",
        [slow],
      );
      if (state === 'declaring') await takeForDead(dead);
      const lost = other.epochs.current();
      other.epochs.lost(lost, 'test');
      await expect.poll(epochNow, RECOVERED).toMatchObject({ state: 'recovering', epoch: expect.not.stringMatching(lost) });
      if (state === 'declaring') {
        await pool.query('update gateway_sessions set drained = (select epoch from lane_epoch) where gateway = $1', [slow]);
        await expect.poll(epochNow, RECOVERED).toMatchObject({ state: 'declaring' });
      }
      const opening = gateway({ dir: dead.journal.dir });
      const hasJoined = "select from gateway_sessions where gateway = $1 and seen_at > now() - interval '15 seconds'";
      await expect.poll(async () => (await pool.query(hasJoined, [dead.id])).rowCount, RECOVERED).toBe(1);
      await pool.query('delete from gateway_sessions where gateway = $1', [slow]);
      await opening;
      await vi.waitFor(async () => expect(await take(other, whole())).toBe(false), RECOVERED);
      expect(await spentOf(other, inFlight)).toEqual({ spent: 1_000n, held: 0n });
    },
  );

  test.each(['as they were', 'loaded anew'])(
    'have no hold of a call that was not begun, once a gateway is back that ended without Redis, %s',
    async (state) => {
      const [ending, other] = [await gateway(), await gateway()];
      const record = recordOf(newId(), newId());
      await take(ending, record, { inFlight: bound(record) });
      await endWithoutRedis(ending);
      expect(await spentOf(other, record)).toEqual({ spent: 0n, held: 100n });
      // Other partitions have lost something, this one has not.
      if (state === 'loaded anew') other.epochs.lost(other.epochs.current(), 'test');
      const next = await gateway({ dir: ending.journal.dir });
      await vi.waitFor(async () => expect(await spentOf(other, record)).toEqual({ spent: 0n, held: 0n }), RECOVERED);
      await next.stop();
      expect(next.journal.isSettled()).toBe(true);
      expect(await bookedOf(record.requestId)).toEqual([]);
    },
  );

  test('free a call that was not begun, whose gateway ended without Redis and is never back', async () => {
    const [ending, other] = [await gateway(), await gateway()];
    const [unasked, asked] = [recordOf(newId(), newId()), recordOf(newId(), newId())];
    for (const record of [unasked, asked]) await take(ending, record, { inFlight: bound(record) });
    await ending.lanes.begin(bound(asked));
    await endWithoutRedis(ending);
    // They are in doubt, and have been for ten minutes.
    for (const leases of await redis.keys(`${LANES_PREFIX}*:leases`)) {
      for (const holdId of await redis.zrange(leases, '0', '-1')) await redis.zadd(leases.replace(/leases$/, 'doubt'), '0', holdId);
      await redis.del(leases);
    }
    await vi.waitFor(async () => {
      await other.lanes.sweep();
      expect(await spentOf(other, unasked)).toEqual({ spent: 0n, held: 0n });
    }, RECOVERED);
    expect(await spentOf(other, asked)).toEqual({ spent: 100n, held: 0n });
    await other.stop();
    expect(await bookedOf(unasked.requestId)).toEqual([]);
    expect(await bookedOf(asked.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '100' }]);
    expect((await pool.query('select from unfreed_holds')).rowCount).toBe(0);
  });

  test('keep what another gateway has taken under the name of a hold that one could not free', async () => {
    const [ending, other] = [await gateway(), await gateway()];
    const record = recordOf(newId(), newId());
    await take(ending, record, { inFlight: bound(record) });
    await endWithoutRedis(ending);
    await other.lanes.release(record.receiptId);
    await take(other, record, { inFlight: bound(record) });
    await other.lanes.begin(bound(record));
    const next = await gateway({ dir: ending.journal.dir });
    expect(await spentOf(other, record)).toEqual({ spent: 0n, held: 100n });
    expect(await other.lanes.settle(settlement(record))).toBeDefined();
    await next.stop();
  });

  test('charge a call that was taken again after its answer was lost, and asked a provider, when its gateway ends without them', async () => {
    const ending = await gateway();
    const record = recordOf(newId(), newId());
    vi.spyOn(redis, 'evalsha').mockRejectedValueOnce(new Error('Command timed out'));
    await expect(take(ending, record, { inFlight: bound(record) })).rejects.toThrow('timed out');
    await take(ending, record, { inFlight: bound(record) });
    await ending.lanes.begin(bound(record));
    await endWithoutRedis(ending);
    await (await gateway({ dir: ending.journal.dir })).stop();
    expect(await bookedOf(record.requestId)).toEqual([{ outcome: 'abandoned', cost_nano: '100' }]);
  });

  test('are not held again by a gateway whose session lapsed while Redis lost nothing', async () => {
    const [silent, other] = [await gateway(), await gateway()];
    const record = recordOf(newId(), newId());
    await take(silent, record);
    await silent.lanes.begin(bound(record));
    const epoch = silent.epochs.current();
    // Its doubt has ended: another gateway has settled it, and the ledger does not have that yet.
    await whileBookingFails([silent, other], async () => {
      expect(await other.lanes.abandon(record.receiptId)).toBe(true);
      const token = await tokenOf(silent);
      await pool.query('update gateway_sessions set token = token + 1 where gateway = $1', [silent.id]);
      await expect.poll(() => tokenOf(silent), RECOVERED).toBe(token + 2);
      await vi.waitFor(() => expect(silent.epochs.current()).toBe(epoch), RECOVERED);
      expect(await spentOf(silent, record)).toEqual({ spent: 100n, held: 0n });
      expect(await silent.lanes.settle(settlement(record))).toBeUndefined();
    });
  });

  test('do not wait for a gateway that has ended: it begins no session again', async () => {
    const ended = await gateway();
    await ended.epochs.close();
    await expect(ended.epochs.confirm()).rejects.toThrow('ends');
    expect((await pool.query('select from gateway_sessions where gateway = $1', [ended.id])).rowCount).toBe(0);
  });

  test('are not declared before a gateway has booked what it had read of the old ones', async () => {
    const join = vi.spyOn(LaneEpochs.prototype, 'join');
    const { lanes, write } = await gateway();
    const [[recovery] = []] = join.mock.calls;
    join.mockRestore();
    const record = invoicedRecord();
    const blocker = await pool.connect();
    try {
      await blocker.query('begin; lock table usage_records in exclusive mode');
      await settleOn(lanes, record);
      const writing = write();
      const waiting =
        'select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())';
      await expect.poll(async () => (await pool.query(waiting)).rowCount, RECOVERED).toBeGreaterThan(0);
      let isIdle = false;
      const idle = recovery?.idle().then(() => {
        isIdle = true;
      });
      for (let turns = 0; turns < 20; turns += 1) await pool.query('select 1');
      expect(isIdle).toBe(false);
      await blocker.query('rollback');
      await idle;
      expect(await bookedOf(record.requestId)).toHaveLength(1);
      await writing;
    } finally {
      await blocker.query('rollback');
      blocker.release();
    }
  });

  test('are reloaded although a gateway finds twice at once that its session has lapsed', async () => {
    const own = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
    const [one, two] = [await gateway(), await gateway({ pool: own })];
    const hasDrained = async () => {
      const sql = 'select from gateway_sessions join lane_epoch on epoch = drained where gateway = $1';
      return (await pool.query(sql, [two.id])).rowCount === 1;
    };
    // A second beginning of its session comes to the database only when it has done something under the first.
    const { query } = own;
    let joins = 0;
    own.query = (async (...args: unknown[]) => {
      const text = String(Object(args[0]).text ?? args[0]);
      joins += text.startsWith('insert into "gateway_sessions"') ? 1 : 0;
      if (joins === 2) await expect.poll(hasDrained, RECOVERED).toBe(true);
      return (query as (...given: unknown[]) => unknown).apply(own, args);
    }) as never;
    await redis.flushall();
    await pool.query('update gateway_sessions set token = token + 1 where gateway = $1', [two.id]);
    await Promise.all([two.epochs.confirm().catch(() => {}), two.epochs.confirm().catch(() => {})]);
    await vi.waitFor(async () => expect(await take(one, recordOf(newId(), newId()))).toBe(true), RECOVERED);
    await vi.waitFor(() => two.epochs.current(), RECOVERED);
    own.query = query;
    await two.stop();
    await own.end();
  });

  test('are reloaded when they are lost, with settlements and every gateway’s running holds', async () => {
    const [a, b] = [await gateway(), await gateway()];
    const [keyId, accountId] = [newId(), newId()];
    const [begun, settled] = [recordOf(keyId, accountId), recordOf(keyId, accountId)];
    for (const [at, record] of [
      [a, begun],
      [b, settled],
    ] as const) {
      await take(at, record);
      await at.lanes.begin(bound(record));
    }
    await b.lanes.settle(settlement(settled));
    await redis.flushall();
    await expect(take(b, recordOf(keyId, accountId))).rejects.toThrow('EPOCH');
    await vi.waitFor(async () => expect(await spentOf(b, begun)).toEqual({ spent: 90n, held: 100n }), RECOVERED);
    expect(await a.lanes.settle(settlement(begun))).toMatchObject({ lanes: [{ spent: 180n, held: 0n }] });
    await b.stop();
    expect(await spentOf(a, begun)).toEqual({ spent: 180n, held: 0n });
  });

  test('that lost single writes are reloaded', async () => {
    const one = await gateway();
    const record = recordOf(newId(), newId());
    await take(one, record);
    await one.lanes.begin(bound(record));
    for (const mark of await redis.keys('tallygate:lanes:*:epoch')) await redis.hset(mark, 'count', 0);
    await expect(one.lanes.begin(bound(record))).resolves.toBeUndefined();
    expect(await spentOf(one, record)).toEqual({ spent: 0n, held: 100n });
  });

  test('count what a dead gateway had begun, as far as Redis still has it', async () => {
    const [dead, other] = [await gateway(), await gateway()];
    const record = recordOf(newId(), newId());
    await take(dead, record);
    await dead.lanes.begin(bound(record));
    await dead.die();
    await takeForDead(dead);
    const epoch = other.epochs.current();
    other.epochs.lost(epoch, 'test');
    await vi.waitFor(() => expect(other.epochs.current()).not.toBe(epoch), RECOVERED);
    expect(await spentOf(other, record)).toEqual({ spent: 0n, held: 100n });
  });

  test('that are lost stay closed while a gateway is unreachable: its requests in flight count', async () => {
    const [away, other] = [await gateway(), await gateway()];
    const [keyId, accountId] = [newId(), newId()];
    const whole = (): SettlementRecord => invoicedRecord({ keyId, accountId, held: '1000', cost: '900' });
    const inFlight = whole();
    await take(away, inFlight);
    await away.lanes.begin(bound(inFlight));
    await away.die();
    await redis.flushall();
    await expect(take(other, whole())).rejects.toThrow('EPOCH');
    const isDrained = 'select from gateway_sessions, lane_epoch where gateway = $1 and drained = epoch';
    await expect.poll(async () => (await pool.query(isDrained, [other.id])).rowCount, RECOVERED).toBe(1);
    await expect(take(other, whole())).rejects.toThrow('loaded anew');
    expect(await epochNow()).toMatchObject({ state: 'recovering' });
    await gateway({ dir: away.journal.dir });
    await vi.waitFor(async () => expect(await take(other, whole())).toBe(false), RECOVERED);
    expect(await spentOf(other, inFlight)).toEqual({ spent: 1_000n, held: 0n });
    expect(await lossesOf()).toBe(0n);
  });

  test.each(['in flight', 'settled'])(
    'charge what a gateway that was taken for dead had %s as far as it fits, and waive the rest',
    async (what) => {
      const [dead, other] = [await gateway(), await gateway()];
      const [keyId, accountId] = [newId(), newId()];
      const whole = (): SettlementRecord => invoicedRecord({ keyId, accountId, held: '1000', cost: '950' });
      const [left, others] = [whole(), invoicedRecord({ keyId, accountId, held: '200', cost: '150' })];
      await take(dead, left);
      await dead.lanes.begin(bound(left));
      await whileBookingFails([dead, other], async () => {
        if (what === 'settled') await dead.lanes.settle(settlement(left));
        await dead.die();
        await takeForDead(dead);
        await redis.flushall();
      });
      await vi.waitFor(async () => expect(await take(other, others)).toBe(true), RECOVERED);
      await other.lanes.begin(bound(others));
      // What is held by then counts as well.
      await (await gateway({ dir: dead.journal.dir })).write();
      await vi.waitFor(async () => expect(await spentOf(other, left)).toEqual({ spent: 800n, held: 200n }), RECOVERED);
      expect(await take(other, invoicedRecord({ keyId, accountId, held: '1', cost: '1' }))).toBe(false);
      await other.lanes.settle(settlement(others));
      await other.write();
      expect((await bookedOf(left.requestId)).map(({ cost_nano }) => cost_nano)).toEqual(['800']);
      expect(await lossesOf()).toBe(what === 'settled' ? 150n : 200n);
      expect(await contradictions(pool)).toEqual([]);
    },
  );

  test('that were opened without a gateway settle what it still runs as far as it fits, once', async () => {
    const away = cuttable();
    const [silent, other] = [await gateway({ pool: away.pool }), await gateway()];
    const [keyId, accountId] = [newId(), newId()];
    const [begun, held] = [
      invoicedRecord({ keyId, accountId, held: '900', cost: '900' }),
      invoicedRecord({ keyId, accountId, held: '100' }),
    ];
    await take(silent, held);
    await take(silent, begun);
    await silent.lanes.begin(bound(begun));
    away.cut();
    await takeForDead(silent);
    await redis.flushall();
    const others = invoicedRecord({ keyId, accountId, held: '500', cost: '400' });
    await vi.waitFor(async () => expect(await take(other, others)).toBe(true), RECOVERED);
    await other.lanes.begin(bound(others));
    away.heal();
    await expect.poll(() => silent.epochs.isLate, RECOVERED).toBe(true);
    // The first attempt may have begun before it knows that it has missed an epoch.
    await vi.waitFor(async () => expect(await silent.lanes.settle(settlement(begun))).toMatchObject({ charged: 500n }), RECOVERED);
    await expect(silent.lanes.begin(bound(held))).rejects.toThrow('no hold');
    expect(await silent.lanes.settle(settlement(begun))).toBeUndefined();
    expect(await spentOf(other, begun)).toEqual({ spent: 500n, held: 500n });
    await other.lanes.settle(settlement(others));
    for (const { write } of [silent, other]) await write();
    expect(await bookedOf(begun.requestId)).toEqual([{ outcome: 'completed', cost_nano: '500' }]);
    expect(await lossesOf()).toBe(400n);
    await expect.poll(() => silent.epochs.isLate, RECOVERED).toBe(false);
    await silent.stop();
    await away.pool.end();
  });

  describe('have no hold again that many drew from', () => {
    const keptFor = async (at: Gateway): Promise<SettlementRecord> => {
      const record = recordOf(newId(), newId());
      await take(at, record, { keptUntil: Date.now() + 3_600_000 });
      return record;
    };
    const expectNothingHeld = async (at: Gateway, record: SettlementRecord): Promise<void> => {
      const epoch = at.epochs.current();
      await redis.flushall();
      at.epochs.lost(epoch, 'test');
      await vi.waitFor(() => expect(at.epochs.current()).not.toBe(epoch), RECOVERED);
      expect(await spentOf(at, record)).toEqual({ spent: 0n, held: 0n });
    };

    test('when what it was taken for is ended', async () => {
      const one = await gateway({ neededAmong: async () => new Set() });
      await expectNothingHeld(one, await keptFor(one));
    });

    test('when another gateway has released it', async () => {
      const [one, other] = [await gateway(), await gateway()];
      const record = await keptFor(one);
      await other.lanes.release(record.receiptId);
      await one.lanes.sweep();
      await expectNothingHeld(one, record);
    });
  });

  test('are raised to the ledger where they have less, and lowered only by an operator', async () => {
    const one = await gateway();
    const record = recordOf(newId(), newId());
    await take(one, record);
    await one.lanes.settle(settlement(record));
    await one.write();
    const [id = ''] = lanesOfRecord(record).lanes;
    const source = new LedgerLaneSource(pool);
    const reconcile = (isToLower: boolean) =>
      reconcileByOperator({ pool, config: { redisUrl: server.url }, log: silentLog(), closing: new Closing(silentLog()) }, isToLower);
    await expect
      .poll(async () => (await reconcile(false)).said, RECOVERED)
      .toMatch(/^Every lane has what the ledger has\.\n.* 0 settlements/);
    expect(await one.lanes.books.correct({ laneId: id, meter: null, from: 90n, to: 40n })).toBe(true);
    expect(await repairLanes(one.lanes.books, source)).toMatchObject({ mended: [{ laneId: id, inLane: 40n, inLedger: 90n }], left: [] });
    expect(await spentOf(one, record)).toEqual({ spent: 90n, held: 0n });
    await one.lanes.books.correct({ laneId: id, meter: null, from: 90n, to: 95n });
    expect(await reconcile(false)).toMatchObject({ isDone: false, said: expect.stringContaining('lane 95, ledger 90: it has more') });
    expect(await spentOf(one, record)).toEqual({ spent: 95n, held: 0n });
    expect(await reconcile(true)).toMatchObject({ isDone: true, said: expect.stringContaining('lane 95, ledger 90: lowered') });
    expect(await spentOf(one, record)).toEqual({ spent: 90n, held: 0n });
  });

  test('never overspend a cap and lose no settlement, when anything is flushed under load', async () => {
    const gateways = [await gateway(), await gateway()];
    const traffic = load(gateways);
    for (const calls of [2, 5, 8]) {
      await expect.poll(() => traffic.asked(), RECOVERED).toBeGreaterThanOrEqual(calls);
      await redis.flushall();
    }
    await pause(500);
    await traffic.end();
    await expectSound(traffic, gateways);
  });

  test('never overspend a cap when Redis comes back with an older state', async () => {
    const gateways = [await gateway(), await gateway()];
    const traffic = load(gateways);
    await expect.poll(() => traffic.asked(), RECOVERED).toBeGreaterThanOrEqual(2);
    await redis.save();
    await expect.poll(() => traffic.asked(), RECOVERED).toBeGreaterThanOrEqual(5);
    await server.kill();
    await server.start();
    await ready(redis);
    await pause(500);
    await traffic.end();
    await expectSound(traffic, gateways);
  });

  test('never overspend a cap when sentinels promote a replica that has lost writes', async () => {
    const watched = await startWatchedRedis(testRedisProgram());
    const connection = connectRedis(watched.url, silentLog(), 'prompt');
    await ready(connection);
    const gateways = [await gateway({ redis: connection }), await gateway({ redis: connection })];
    const traffic = load(gateways);
    await expect.poll(() => traffic.asked(), RECOVERED).toBeGreaterThanOrEqual(2);
    await watched.severReplica();
    await expect.poll(() => traffic.asked(), RECOVERED).toBeGreaterThanOrEqual(5);
    await watched.failOver();
    await pause(500);
    await traffic.end();
    await expectSound(traffic, gateways);
    connection.disconnect();
    await watched.stop();
  });
});
