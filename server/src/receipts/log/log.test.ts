import { randomBytes } from 'node:crypto';
import { VaasKeySet } from '@tallygate/contract';
import {
  checkTlogProof,
  fromVerifierKey,
  isConsistent,
  type NoteKey,
  parseCheckpoint,
  parseNote,
  parseTlogProof,
  signersOf,
} from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { digestOf } from '../issue-receipt.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed, storedKeySet } from '../signing-keys.ts';
import { keptInMemory, storeSmallReceipts } from '../testing/receipts.ts';
import { appendAll, appendReceipts } from './append.ts';
import { checkpointNote } from './grow-log.ts';
import { LogStop, stopsOf } from './log-stops.ts';
import { nameLog } from './own-state.ts';
import { consistencyOf, newestCheckpoint, proofOfReceipt } from './read-log.ts';
import { resumeLog, standingOfLog } from './resume-log.ts';
import { decideUnsealed, unsealedReceipts } from './unsealed.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const key = signingKeyFromSeed(newSigningSeed());
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 8 });
  await publishSigningKeys(pool, [key], NOW, 'checkpoint');
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, receipt_log_stops, own_records, unsealed_receipts');
  await pool.query('update receipt_log set size = 0');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const append = () => appendAll({ pool, keys: [key], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);

const settle = (count: number) => storeSmallReceipts(pool, key, count);

/** As anybody has them. */
async function published(): Promise<{ origin: string; keys: NoteKey[] }> {
  const { keys } = VaasKeySet.parse(await storedKeySet(pool));
  const known = keys.flatMap((one) => (one.purpose === 'checkpoint' ? (fromVerifierKey(one.verifier_key) ?? []) : []));
  return { origin: known[0]?.name ?? '', keys: known };
}

async function checkpoint() {
  const { note } = await newestCheckpoint(pool);
  const parsed = parseNote(note);
  const state = parsed && parseCheckpoint(parsed.text);
  if (!state || !signersOf(parsed, (await published()).keys)?.length) throw new Error(`No checkpoint of the log: ${note}`);
  return state;
}

describe('the log', () => {
  test('has every receipt once, each with a proof that anybody can check', async () => {
    const receipts = new Map([...(await settle(1)), ...(await settle(40))]);
    await append();
    expect((await checkpoint()).size).toBe(41);
    const log = await published();
    const places = new Set<number>();
    for (const [id, payload] of receipts) {
      const shown = checkTlogProof(await proofOfReceipt(pool, emptyArchive(pool), id), digestOf(payload), log);
      if (typeof shown === 'string') throw new Error(shown);
      places.add(shown.index);
    }
    expect(places.size).toBe(41);
    const [first = ''] = receipts.keys();
    expect(checkTlogProof(await proofOfReceipt(pool, emptyArchive(pool), first), digestOf('{}'), log)).toBe('not_included');
  });

  test('only grows: every state is the beginning of every later one', async () => {
    const states: Awaited<ReturnType<typeof checkpoint>>[] = [];
    for (const count of [1, 1, 2, 3, 9, 40]) {
      await settle(count);
      await append();
      states.push(await checkpoint());
    }
    for (const [at, old] of states.entries()) {
      for (const young of states.slice(at)) {
        const path = await consistencyOf(pool, old.size, young.size);
        const claim = { oldSize: old.size, oldRoot: old.root, newSize: young.size, newRoot: young.root, path };
        expect(isConsistent(claim)).toBe(true);
      }
    }
    await expect(consistencyOf(pool, 2, 57)).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(consistencyOf(pool, 3, 2)).rejects.toMatchObject({ code: 'validation_failed' });
  });

  test('takes each receipt in once, however many append at the same time, and more than one transaction’s worth', async () => {
    await settle(2_500);
    await Promise.all([append(), append(), append(), settle(200).then(append)]);
    await append();
    expect((await checkpoint()).size).toBe(2_700);
    const { rows } = await pool.query<{ places: string; last: string }>(
      'select count(distinct log_index)::text as places, max(log_index)::text as last from receipts',
    );
    expect(rows).toEqual([{ places: '2700', last: '2699' }]);
  });

  test('is as it was where a transaction dies at any of its statements', async () => {
    await settle(5);
    await append();
    const before = await checkpoint();
    await settle(6);
    for (let statement = 1; statement <= 9; statement += 1) {
      const dying = dyingAt(statement);
      await expect(
        appendReceipts({ pool: dying, keys: [key], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }),
      ).rejects.toThrow('killed');
      expect(await checkpoint()).toEqual(before);
    }
    await append();
    expect((await checkpoint()).size).toBe(11);
  });

  test('is signed by both keys while one takes the place of the other', async () => {
    const next = signingKeyFromSeed(newSigningSeed());
    await publishSigningKeys(pool, [key, next], NOW, 'checkpoint');
    await settle(1);
    await appendAll({ pool, keys: [key, next], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
    const note = parseNote((await newestCheckpoint(pool)).note);
    expect(note && signersOf(note, (await published()).keys)).toHaveLength(2);
  });

  describe('is signed no more, until somebody has looked,', () => {
    const own = { receipt: [], checkpoint: [key] };
    const KEPT = `create temp table kept_tiles as select * from receipt_log_tiles;
      create temp table kept_checkpoints as select * from receipt_log_checkpoints; create temp table kept_log as select * from receipt_log`;
    const PUT_BACK = `truncate receipt_log_tiles, receipt_log_checkpoints; insert into receipt_log_tiles select * from kept_tiles;
      insert into receipt_log_checkpoints select * from kept_checkpoints; update receipt_log set size = (select size from kept_log)`;

    test.each([
      ['a stored hash is not what was signed', "update receipt_log_tiles set hashes = sha256('forged') || substring(hashes from 33)"],
      ['a stored hash is gone', 'delete from receipt_log_tiles where level = 0'],
      ['the newest state is gone', 'delete from receipt_log_checkpoints where size = 3'],
      ['the log is cut', 'update receipt_log set size = 2'],
      [
        'the newest signature does not hold',
        "update receipt_log_checkpoints set note = regexp_replace(note, '.{40}\\n$', repeat('A', 39) || E'=\\n')",
      ],
      [
        'all of it was made anew, down to the text of the note',
        `update receipt_log_tiles set hashes = substring(hashes for 64) || sha256('forged');
         update receipt_log_checkpoints set root = sha256(E'\\x01' || (select sha256(E'\\x01' || substring(hashes for 64)) from receipt_log_tiles) || sha256('forged'));
         update receipt_log_checkpoints set note = regexp_replace(note, E'\\n3\\n[^\\n]+', E'\\n3\\n' || encode(root, 'base64'))`,
      ],
    ])('where %s', async (_, forgery) => {
      await settle(3);
      await append();
      await settle(1);
      const session = await pool.connect();
      await session.query(KEPT);
      await pool.query(forgery);
      await expect(append()).rejects.toThrow(LogStop);
      await append();
      expect((await stopsOf(pool)).length).toBe(1);
      await session.query(PUT_BACK);
      await append();
      expect((await checkpoint()).size).toBe(3);
      expect(await resumeLog(pool, own, randomBytes(32).toString('base64'))).toBeUndefined();
      await append();
      expect((await checkpoint()).size).toBe(3);
      await resumeLog(pool, own, (await standingOfLog(pool, own)).root);
      await append();
      expect((await checkpoint()).size).toBe(4);
      await session.query('drop table kept_tiles, kept_checkpoints, kept_log');
      session.release();
    });

    test('where the key in the database is that of whoever rewrote it', async () => {
      await settle(3);
      await append();
      const intruder = signingKeyFromSeed(newSigningSeed());
      await publishSigningKeys(pool, [key, intruder], NOW, 'checkpoint');
      await pool.query('truncate webhook_messages cascade');
      const { origin, root } = await standingOfLog(pool, own);
      const forged = checkpointNote({ origin, size: 3, root: Buffer.from(root, 'base64') }, [intruder]);
      await pool.query('update receipt_log_checkpoints set note = $1', [forged]);
      await settle(1);
      await expect(append()).rejects.toThrow(LogStop);
      await expect(append()).resolves.not.toThrow();
      const [stop] = await stopsOf(pool);
      const { rows } = await pool.query('select type, account_id, data from webhook_messages');
      expect(rows).toEqual([{ type: 'log.stopped', account_id: null, data: { reason: stop?.reason } }]);
    });

    test('and nothing resumes a log that is not the one its note tells of', async () => {
      await settle(3);
      await append();
      await pool.query('delete from receipt_log_tiles where level = 0');
      await expect(standingOfLog(pool, own)).rejects.toThrow(LogStop);
    });
  });

  test('goes on with a key that never signed beside the one before only once somebody has looked', async () => {
    await settle(2);
    await append();
    const next = signingKeyFromSeed(newSigningSeed());
    const own = { receipt: [], checkpoint: [next] };
    const appendAnew = () => appendAll({ pool, keys: [next], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
    await settle(1);
    await expect(appendAnew()).rejects.toThrow('is not signed by a key of LOG_SIGNING_KEY');
    const standing = await standingOfLog(pool, own);
    expect(standing).toMatchObject({ size: 2, isOwn: false });
    await resumeLog(pool, own, standing.root);
    await appendAnew();
    // What waited was sealed by a gateway with the key before, which this one does not know.
    expect(await decideUnsealed(pool, own, 'accept')).toBe(1);
    await appendAnew();
    expect((await newestCheckpoint(pool)).size).toBe(3);
    const { rows } = await pool.query("select changes from audit_log where action = 'receipt_log.resumed' order by id desc limit 1");
    expect(rows).toMatchObject([{ changes: { size: 2, signed_anew: true } }]);
  });

  describe('that forgot what was signed of it', () => {
    const own = { receipt: [], checkpoint: [key] };
    const forget = async () => {
      await pool.query('update receipts set log_index = null');
      await pool.query('truncate receipt_log_tiles, receipt_log_checkpoints');
      await pool.query('update receipt_log set size = 0');
    };

    test.each([
      ['all of it', forget],
      [
        'its last entries, back to a state that was signed',
        async () => {
          await pool.query('delete from receipts where log_index >= 2');
          await pool.query('delete from receipt_log_tiles where start >= 2');
          await pool.query('delete from receipt_log_checkpoints where size > 2');
          await pool.query('update receipt_log set size = 2');
        },
      ],
    ])('%s, is stopped before anything is signed anew, until somebody has looked', async (_what, tamper) => {
      const kept = keptInMemory();
      const grow = async () => {
        await settle(2);
        await appendAll({ pool, keys: [key], kept, clock: { now: () => NOW }, log: silentLog() }, FOREVER);
      };
      await grow();
      await grow();
      await tamper();
      await expect(grow()).rejects.toThrow('This gateway has signed a log of 4 entries');
      const standing = await standingOfLog(pool, own);
      expect(standing.stops).toHaveLength(1);
      await resumeLog(pool, own, standing.root);
      await grow();
      expect((await newestCheckpoint(pool)).size).toBeGreaterThan(standing.size);
    });

    test('and was made as long again of other entries, is found by what was kept', async () => {
      const kept = keptInMemory();
      await settle(3);
      const deps = { pool, keys: [key], kept, clock: { now: () => NOW }, log: silentLog() };
      await appendAll(deps, FOREVER);
      await forget();
      await pool.query('delete from receipts');
      await settle(5);
      await append(); // By a gateway that keeps nothing.
      await settle(1);
      await expect(appendAll(deps, FOREVER)).rejects.toThrow('The first 3 entries are not those that this gateway has signed');
    });

    test('or is another one, is told from the one that was signed', async () => {
      const kept = keptInMemory();
      const deps = { pool, keys: [key], kept, clock: { now: () => NOW }, log: silentLog() };
      await settle(1);
      await appendAll(deps, FOREVER);
      await forget();
      const { origin } = await published();
      await pool.query("update receipt_log set origin = origin || '-other'");
      try {
        await expect(appendAll(deps, FOREVER)).rejects.toThrow(`This gateway has signed 1 entries of the log ${origin}`);
      } finally {
        await pool.query('update receipt_log set origin = $1', [origin]);
      }
    });
  });

  test('takes in nothing that somebody else has written: it is set aside and named, and the others go on', async () => {
    const ours = await settle(3);
    const [mine = '', altered = ''] = [...ours.keys()];
    const [copied, written] = [newId(), newId()];
    const strange = await storeSmallReceipts(pool, signingKeyFromSeed(newSigningSeed()), 1);
    await pool.query('insert into receipts (receipt_id, account_id, request_id, payload, digest) values ($1, $1, $2, $3, $4)', [
      ...[written, written, `{"receipt_id":"${written}"}`, digestOf(`{"receipt_id":"${written}"}`)],
    ]);
    await pool.query(
      'insert into receipts (receipt_id, account_id, request_id, payload, digest, seal) select $1, account_id, request_id, payload, digest, seal from receipts where receipt_id = $2',
      [copied, mine],
    );
    await pool.query(`update receipts set payload = payload || ' ' where receipt_id = $1`, [altered]);

    const said: unknown[] = [];
    const log = { ...silentLog(), fatal: (what: unknown) => void said.push(what) } as unknown as Log;
    await appendAll({ pool, keys: [key], kept: keptInMemory(), clock: { now: () => NOW }, log }, FOREVER);
    const strangers = [altered, copied, written, ...strange.keys()].toSorted();
    expect(said).toEqual([{ receipts: expect.arrayContaining(strangers) }]);
    expect((await unsealedReceipts(pool)).map(({ receipt_id: id }) => id).toSorted()).toEqual(strangers);
    expect(await newestCheckpoint(pool)).toMatchObject({ size: 2 });
    expect((await pool.query('select from receipts')).rowCount).toBe(2);
    expect(await stopsOf(pool)).toEqual([]);

    // A person knows that they are the service's own after all.
    const own = { receipt: [], checkpoint: [key] };
    expect(await decideUnsealed(pool, own, 'accept')).toBe(4);
    await append();
    expect((await unsealedReceipts(pool)).map(({ receipt_id: id }) => id).toSorted()).toEqual([altered, copied].toSorted());
    expect(await newestCheckpoint(pool)).toMatchObject({ size: 4 });
    expect(await decideUnsealed(pool, own, 'forget')).toBe(2);
    expect(await unsealedReceipts(pool)).toEqual([]);
  });

  test('has the address of the gateway for its name, from before its first entry and for good', async () => {
    const { origin: before } = await published();
    try {
      await nameLog(pool, undefined);
      expect((await published()).origin).toBe(before);
      await nameLog(pool, 'https://ai.example.com/gateway/');
      expect((await published()).origin).toBe('ai.example.com/gateway/v1/log');
      await settle(1);
      await append();
      await nameLog(pool, 'https://other.example.com');
      expect((await published()).origin).toBe('ai.example.com/gateway/v1/log');
      expect((await newestCheckpoint(pool)).note).toMatch(/^ai\.example\.com\/gateway\/v1\/log\n1\n/);
    } finally {
      await pool.query('update receipt_log set origin = $1', [before]);
    }
  });

  test('says of what is not there yet when to come back', async () => {
    await expect(newestCheckpoint(pool)).rejects.toMatchObject({ code: 'not_found', extras: { retryAfterSeconds: 2 } });
    const [id = ''] = (await settle(1)).keys();
    await expect(proofOfReceipt(pool, emptyArchive(pool), id)).rejects.toMatchObject({
      code: 'not_found',
      extras: { retryAfterSeconds: 2 },
    });
    await expect(proofOfReceipt(pool, emptyArchive(pool), newId())).rejects.toMatchObject({ code: 'not_found', extras: {} });
  });

  test('is signed by the key in force, and a retired one stays known', async () => {
    await settle(1);
    await append();
    const [id = ''] = (await pool.query<{ receipt_id: string }>('select receipt_id from receipts')).rows.map((row) => row.receipt_id);
    const old = await proofOfReceipt(pool, emptyArchive(pool), id);
    const next = signingKeyFromSeed(newSigningSeed());
    await settle(1);
    await appendAll({ pool, keys: [key, next], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
    await publishSigningKeys(pool, [next], NOW, 'checkpoint');
    await storeSmallReceipts(pool, next, 1);
    await appendAll({ pool, keys: [next], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
    const { keys } = await published();
    expect(parseNote((await newestCheckpoint(pool)).note)?.signatures).toHaveLength(1);
    for (const proof of [old, await proofOfReceipt(pool, emptyArchive(pool), id)]) {
      const note = parseNote(parseTlogProof(proof)?.checkpoint ?? '');
      expect(note && signersOf(note, keys)).toHaveLength(1);
    }
  });
});

/** A pool whose connection dies at its n-th statement. */
function dyingAt(statement: number): Pool {
  let left = statement;
  return new Proxy(pool, {
    get: (target, name) =>
      name === 'connect'
        ? async () => {
            const client = await target.connect();
            return new Proxy(client, {
              get: (inner, member) => {
                if (member === 'query')
                  return (...given: Parameters<typeof inner.query>) => {
                    left -= 1;
                    return left === 0 ? Promise.reject(new Error('killed')) : inner.query(...given);
                  };
                const value: unknown = Reflect.get(inner, member);
                return typeof value === 'function' ? value.bind(inner) : value;
              },
            });
          }
        : Reflect.get(target, name),
  });
}
