import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { type OwnKeys, publishOwnKeys } from '../own-keys.ts';
import { publishedKeySet } from '../published-keys.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../signing-keys.ts';
import { keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { appendAll } from './append.ts';
import { type AuditProgress, auditLog, blocksAgain } from './audit-log.ts';
import { stopsOf } from './log-stops.ts';
import { proofOfReceipt } from './read-log.ts';
import { resumeLog, standingOfLog } from './resume-log.ts';
import { thinCheckpoints } from './thin-checkpoints.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
const OWN: OwnKeys = { receipt: [key], checkpoint: [logKey] };
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, receipt_log_stops, own_records, signing_keys');
  await pool.query('update receipt_log set size = 0');
  await pool.query('update receipt_log_audit set next_index = 0, new_index = 0, found = 0, last_found = 0');
  await publishOwnKeys(pool, OWN, NOW);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function grow(count: number): Promise<void> {
  await storeReceipts(
    pool,
    logKey,
    Array.from({ length: count }, () => ({ completedAt: NOW })),
  );
  await appendAll({ pool, keys: [logKey], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
}

/** One run, with what it says at the level of errors. */
async function audit(own = OWN): Promise<{ faults: string[]; alarm: number }> {
  const faults: string[] = [];
  let alarm = -1;
  const log = { ...silentLog(), fatal: () => {}, error: ({ fault }: { fault: string }) => void faults.push(fault) } as unknown as Log;
  await auditLog(
    {
      ...{ pool, archive: emptyArchive(pool), own, clock: { now: () => NOW }, log },
      share: 1,
      onFound: (count) => {
        alarm = count;
      },
    },
    FOREVER,
  );
  return { faults, alarm };
}

test('of checkpoints older than a day only the last of each hour stay, and neither proofs nor the audit miss the others', async () => {
  for (let size = 1; size <= 8; size += 1) await grow(1);
  // The cosigned one is the newest of its kind: proofs are against it.
  const ages = [50.4, 50.3, 50.2, 50.1, 49.1, 23.2, 23.1, 0];
  await pool.query(
    `update receipt_log_checkpoints c set created_at = $1::timestamptz - age * interval '1 hour', cosignatures = case size when 2 then 1 else 0 end
      from unnest($2::float[]) with ordinality as aged (age, of_size) where c.size = of_size`,
    [new Date(NOW), ages],
  );
  await pool.query(`insert into receipt_log_witnesses values ('one.example', 2)`);
  await pool.query(`update receipt_log_checkpoints set note = note || E'— one.example ' || repeat('A', 96) || E'\\n' where size = 2`);
  const proofs = async () => {
    const { rows } = await pool.query<{ receipt_id: string }>('select receipt_id from receipts order by log_index');
    return Promise.all(rows.map(({ receipt_id: id }) => proofOfReceipt(pool, emptyArchive(pool), id)));
  };
  const before = await proofs();
  await thinCheckpoints({ pool, clock: { now: () => NOW } }, FOREVER);
  const { rows } = await pool.query<{ size: bigint }>('select size from receipt_log_checkpoints order by size');
  expect(rows.map(({ size }) => Number(size))).toEqual([2, 4, 5, 6, 7, 8]);
  expect(await proofs()).toEqual(before);
  expect(await audit()).toEqual({ faults: [], alarm: 0 });
  await pool.query('truncate receipt_log_witnesses');
});

test('finds nothing in a log that is as it was signed, however it grew, pass after pass', async () => {
  expect(await audit()).toEqual({ faults: [], alarm: 0 });
  for (const count of [1, 1, 5, 250, 300]) {
    await grow(count);
    expect(await audit()).toEqual({ faults: [], alarm: 0 });
    expect(await audit()).toEqual({ faults: [], alarm: 0 });
  }
});

describe('the audit', () => {
  /** A run in the background's share of the time. @returns how far it was after each step */
  async function run(
    signal: AbortSignal,
    onStep: (progress: AuditProgress) => void = () => {},
    isAgainDue = () => true,
  ): Promise<AuditProgress[]> {
    const steps: AuditProgress[] = [];
    const onProgress = (progress: AuditProgress) => {
      steps.push(progress);
      onStep(progress);
    };
    const deps = {
      pool,
      archive: emptyArchive(pool),
      own: OWN,
      clock: { now: () => NOW },
      log: silentLog(),
      onFound: () => {},
      onProgress,
      isAgainDue,
    };
    await auditLog(deps, signal);
    return steps;
  }

  test('keeps to its share of a core by its own work, not by how long the database takes', async () => {
    await grow(1);
    const slow: Pool = Object.assign(Object.create(pool), {
      query: async (...asked: Parameters<Pool['query']>) => {
        await delay(200);
        return pool.query(...asked);
      },
    });
    const deps = { archive: emptyArchive(pool), own: OWN, clock: { now: () => NOW }, log: silentLog(), onFound: () => {} };
    let restedMs = 0;
    const rest = async (ms: number) => {
      restedMs += Math.max(0, ms);
    };
    await auditLog({ ...deps, pool: slow, share: 0.005, rest }, FOREVER);
    // Rests for the time of its statements would be minutes.
    expect(restedMs).toBeLessThan(60_000);
  });

  test('checks all that is new in one run, then goes through all again, and says how far it is', async () => {
    await grow(300);
    expect((await run(FOREVER)).at(-1)).toEqual({ size: 300, checked: 300, again: 300 });
    await grow(20);
    expect(await run(FOREVER)).toEqual([
      { size: 320, checked: 300, again: 0 },
      { size: 320, checked: 320, again: 0 },
      { size: 320, checked: 320, again: 256 },
      { size: 320, checked: 320, again: 320 },
    ]);
  });

  test('checks the new alone in a run in which the old is not due', async () => {
    await grow(300);
    expect(
      await run(
        FOREVER,
        () => {},
        () => false,
      ),
    ).toEqual([
      { size: 300, checked: 0, again: 0 },
      { size: 300, checked: 256, again: 0 },
      { size: 300, checked: 300, again: 0 },
    ]);
  });

  test('goes through a log of any size again within a day', () => {
    for (const size of [1, 10_000, 5_000_000, 100_000_000]) expect(blocksAgain(size) * 256 * 1_440).toBeGreaterThanOrEqual(size);
    expect(blocksAgain(10_000)).toBe(16);
  });

  test('ends with the block that it is at when it is asked to, and the next run goes on there', async () => {
    await grow(300);
    const asked = new AbortController();
    await run(asked.signal, () => asked.abort());
    expect(await run(FOREVER)).toContainEqual({ size: 300, checked: 300, again: 0 });
  });

  test('takes a fifth of the time of its thread, however much there is to check', async () => {
    await grow(600);
    const [cpu, since] = [process.threadCpuUsage(), performance.now()];
    await run(FOREVER);
    const { user, system } = process.threadCpuUsage(cpu);
    expect((user + system) / 1_000 / (performance.now() - since)).toBeLessThan(0.3);
  });
});

describe('raises an alarm within a pass, and lowers it once a whole pass is clean again', () => {
  test.each([
    ['the payload of a receipt', `update receipts set payload = replace(payload, '"m"', '"n"') where log_index = 3`, 'digest of receipt'],
    [
      'its digest with it',
      `update receipts set payload = 'x', digest = sha256(E'tallygate-receipt/v1\\nx'::bytea) where log_index = 3`,
      'node 0/3',
    ],
    ['the account that finds it', `update receipts set account_id = gen_random_uuid() where log_index = 3`, 'as it was issued: account_id'],
    ['the month that it is listed in', `update receipts set started_at = '2026-10-05' where log_index = 3`, 'as it was issued: started_at'],
    ['its mode', `update receipts set livemode = false where log_index = 3`, 'as it was issued: livemode'],
    ['its kind and model', `update receipts set kind = 'refund', model = 'x' where log_index = 3`, 'as it was issued: kind, model'],
    [
      'its run and request',
      `update receipts set run_id = 'r', request_id = 'q' where log_index = 3`,
      'as it was issued: request_id, run_id',
    ],
    ['the times of a key', `update signing_keys set not_before = '2020-01-01' where purpose = 'receipt'`, 'other times'],
    [
      'the keys, by one of their own',
      `insert into signing_keys values ('k', 'receipt', 'x', now(), null)`,
      'the key k for receipts is published',
    ],
    ['the keys, by deleting one', `delete from signing_keys where purpose = 'receipt'`, 'is not published any more'],
    [
      'the signature of a checkpoint',
      `update receipt_log_checkpoints set note = regexp_replace(note, '.{40}\\n$', repeat('A', 39) || E'=\\n') where size = 7`,
      'checkpoint of 7 entries is not signed',
    ],
    ['the receipt itself', 'delete from receipts where log_index = 3', 'entry 3 has no receipt'],
    ['a leaf', `update receipt_log_tiles set hashes = overlay(hashes placing sha256('x') from 97) where start = 0`, 'node 0/3'],
    ['a hash that is gone', 'delete from receipt_log_tiles where start = 7', 'node 0/7'],
    ['the root of a checkpoint', `update receipt_log_checkpoints set root = sha256('x') where size = 7`, 'checkpoint of 7 entries'],
    [
      'the note of a checkpoint',
      `update receipt_log_checkpoints set note = replace(note, E'\\n7\\n', E'\\n8\\n') where size = 7`,
      'checkpoint of 7 entries is not signed',
    ],
    [
      'a checkpoint, by another one',
      `update receipt_log_checkpoints set note = (select note from receipt_log_checkpoints where size = 13) where size = 7`,
      'checkpoint of 7 entries does not have',
    ],
  ])('where somebody altered %s', async (_, sql, said) => {
    await grow(7);
    await grow(6);
    await pool.query(sql);
    const { faults, alarm } = await audit();
    expect(faults.join('\n')).toContain(said);
    expect(alarm).toBeGreaterThan(0);
    expect((await stopsOf(pool)).map(({ reason }) => reason)).toEqual(expect.arrayContaining(faults));
  });

  test('where somebody altered the root of a whole tile', async () => {
    await grow(300);
    await pool.query(`update receipt_log_tiles set hashes = sha256('x') where level = 1`);
    expect((await audit()).faults.join()).toContain('node 8/0');
  });

  test('and lets the log go on once somebody has seen it, until there is something new', async () => {
    await grow(7);
    await pool.query(`update receipts set livemode = false where log_index = 3`);
    await audit();
    await grow(1);
    expect((await standingOfLog(pool, OWN)).size).toBe(7);
    await resumeLog(pool, OWN, (await standingOfLog(pool, OWN)).root);
    await grow(1);
    expect((await standingOfLog(pool, OWN)).size).toBe(9);
    await audit();
    expect(await audit()).toEqual({ faults: [], alarm: 0 });
    await pool.query(`update receipts set livemode = false where log_index = 4`);
    expect((await audit()).faults).toHaveLength(1);
    expect(await stopsOf(pool)).toHaveLength(1);
  });

  test('where a record that nobody has sealed says that it was seen', async () => {
    await grow(1);
    await pool.query(`update receipts set livemode = false where log_index = 0`);
    const [fault = ''] = (await audit()).faults;
    await pool.query(`insert into own_records values ($1, $2, sha256('x'))`, [`fault ${fault}`, key.kid]);
    expect((await audit()).faults).toEqual([fault]);
  });

  test('and not where keys have changed, one beside the other, or the receipts’ at once', async () => {
    const [next, nextLog] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
    await grow(1);
    for (const own of [
      { receipt: [key], checkpoint: [logKey, nextLog] },
      { receipt: [next], checkpoint: [nextLog, logKey] },
      { receipt: [next], checkpoint: [nextLog] },
    ]) {
      await publishOwnKeys(pool, own, NOW);
      await storeReceipts(pool, own.checkpoint[0] ?? logKey, [{ completedAt: NOW }]);
      await appendAll({ pool, keys: own.checkpoint, kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
      expect(await audit(own)).toEqual({ faults: [], alarm: 0 });
      expect(await audit(own)).toEqual({ faults: [], alarm: 0 });
    }
  });

  test('but not the keys that somebody wrote there before a start', async () => {
    await publishSigningKeys(pool, [key, signingKeyFromSeed(newSigningSeed())], NOW);
    await publishOwnKeys(pool, OWN, NOW);
    expect((await audit()).faults).toEqual([expect.stringContaining('was not configured with it')]);
  });

  describe('where somebody wrote a key there', () => {
    const strange = signingKeyFromSeed(newSigningSeed());
    const kidsPublished = async () => (await publishedKeySet(pool, OWN)).keys.map(({ kid }) => kid);
    beforeEach(async () => {
      await grow(1);
      await pool.query(`insert into signing_keys values ($1, 'receipt', $2, '2020-01-01', null)`, [strange.kid, strange.x]);
    });

    test('which is published to nobody, also once somebody has resumed without a word of it', async () => {
      expect(await kidsPublished()).not.toContain(strange.kid);
      expect((await audit()).faults).toEqual([expect.stringContaining(`the key ${strange.kid} for receipts is published`)]);
      // As whoever wrote the key would have it.
      await pool.query('update receipt_log_stops set seen = $1', [`key ${strange.kid} receipt ${strange.x} 2020-01-01T00:00:00.000Z -`]);
      await resumeLog(pool, OWN, (await standingOfLog(pool, OWN)).root);
      expect(await kidsPublished()).not.toContain(strange.kid);
    });

    test('unless the operator knows it, and names it', async () => {
      await audit();
      const { root } = await standingOfLog(pool, OWN);
      expect(await resumeLog(pool, OWN, root, ['nobody’s'])).toBeUndefined();
      expect(await resumeLog(pool, OWN, root, [strange.kid])).toBeDefined();
      expect(await kidsPublished()).toContain(strange.kid);
      await storeReceipts(pool, logKey, [{ completedAt: NOW }]);
      await grow(1);
      expect(await audit()).toEqual({ faults: [], alarm: 0 });
    });
  });

  test('and not before', async () => {
    await grow(7);
    const { rows } = await pool.query<{ payload: string }>('select payload from receipts where log_index = 3');
    await pool.query(`update receipts set payload = 'x' where log_index = 3`);
    expect((await audit()).alarm).toBeGreaterThan(0);
    await pool.query('update receipts set payload = $1 where log_index = 3', [rows[0]?.payload]);
    expect((await audit()).alarm).toBe(0);
  });
});
