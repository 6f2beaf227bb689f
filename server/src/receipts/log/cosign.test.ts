import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cosignatureLine, fromVerifierKey, type NoteKey, verifyCheckpoint, verifyReceipt } from '@tallygate/receipts';
import { type RunningWitness, startWitness } from '@tallygate/witness';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import type { Witness } from '../../adapters/witness/port.ts';
import { tlogWitness } from '../../adapters/witness/tlog-witness.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { exportReceipts } from '../export-receipts.ts';
import { findReceipt } from '../read-receipt.ts';
import { newSigningSeed, publishSigningKeys, signingKeyFromSeed, storedKeySet } from '../signing-keys.ts';
import { ACCOUNT_ID, keptInMemory, storeReceipts } from '../testing/receipts.ts';
import { appendAll } from './append.ts';
import { cosignLog } from './cosign.ts';
import { stopsOf } from './log-stops.ts';
import { newestCheckpoint } from './read-log.ts';
import { resumeLog, standingOfLog } from './resume-log.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const FOREVER = new AbortController().signal;
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;
let witnesses: RunningWitness[];
let refusals: number;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishSigningKeys(pool, [key], NOW);
  await publishSigningKeys(pool, [logKey], NOW, 'checkpoint');
});
beforeEach(async () => {
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints, receipt_log_witnesses, receipt_log_stops, own_records');
  await pool.query('update receipt_log set size = 0');
  folder = mkdtempSync(join(tmpdir(), 'tallygate-witness-'));
  witnesses = [await started('one.example', 1), await started('two.example', 2)];
});
afterEach(async () => {
  for (const witness of witnesses) await witness.close();
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

async function started(name: string, seed: number): Promise<RunningWitness> {
  const { keys } = await storedKeySet(pool);
  const logs = keys.flatMap((one) => (one.purpose === 'checkpoint' ? [one.verifier_key] : []));
  return startWitness({ name, seed: Buffer.alloc(32, seed), logs, folder: join(folder, name), now: () => NOW });
}

const keyOf = ({ verifierKey }: RunningWitness): NoteKey => {
  const found = fromVerifierKey(verifierKey);
  if (!found) throw new Error(verifierKey);
  return found;
};

async function grow(count: number): Promise<string> {
  const [id = ''] = await storeReceipts(
    pool,
    logKey,
    Array.from({ length: count }, () => ({ completedAt: NOW })),
  );
  await appendAll({ pool, keys: [logKey], kept: keptInMemory(), clock: { now: () => NOW }, log: silentLog() }, FOREVER);
  return id;
}
const cosign = (asked: (one: RunningWitness) => Witness = ({ url }) => tlogWitness(url)) =>
  cosignLog(
    {
      ...{ pool, own: { receipt: [key], checkpoint: [logKey] }, clock: { now: () => NOW }, log: silentLog() },
      ...{ witnesses: witnesses.map((one) => ({ key: keyOf(one), witness: asked(one) })) },
      onRefusals: (count) => {
        refusals = count;
      },
    },
    FOREVER,
  );
const trust = (quorum: number) => ({ witnesses: { keys: witnesses.map(({ verifierKey }) => verifierKey), quorum } });

test('every witness cosigns every state it is asked about, once, and receipts show who saw the log when', async () => {
  await cosign();
  for (const count of [3, 1, 20]) {
    const id = await grow(count);
    await cosign();
    await cosign();
    expect(refusals).toBe(0);
    const { note } = await newestCheckpoint(pool);
    expect(note.match(/^— /gm)).toHaveLength(3);
    const keys = await storedKeySet(pool);
    expect(verifyCheckpoint(note, keys, trust(2))).toMatchObject({
      valid: true,
      signers: expect.arrayContaining(['one.example', 'two.example']),
    });
    expect(verifyReceipt(await findReceipt({ pool, archive: emptyArchive(pool), key }, id), keys, trust(2))).toMatchObject({
      valid: true,
      logged: {
        witnesses: expect.arrayContaining(['one.example', 'two.example'].map((name) => ({ name, time: '2026-11-21T10:00:00.000Z' }))),
      },
    });
  }
});

test('a receipt comes with the newest state that witnesses have cosigned, as long as that has it', async () => {
  const first = await grow(2);
  await cosign();
  const second = await grow(5);
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, first)).log).toMatchObject({ tree_size: 2 });
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, second)).log).toMatchObject({ tree_size: 7 });
  await cosign();
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, first)).log).toMatchObject({ tree_size: 7 });
});

test('a receipt is proven with the cosignatures of the witnesses that are there, while another is away or is one no more', async () => {
  const early = await grow(2);
  await cosign();
  await witnesses[0]?.close();
  const late = await grow(3);
  await cosign();
  await grow(1);
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, late)).log).toMatchObject({
    tree_size: 5,
    checkpoint: expect.stringContaining('\n— two.example '),
  });
  // The newest, and the newest that one, two and three have cosigned.
  const sizes = [0, 1, 2, 3].map(async (cosignatures) => (await newestCheckpoint(pool, cosignatures)).size);
  expect(await Promise.all(sizes)).toEqual([6, 5, 2, 6]);
  // Both saw this one.
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, early)).log).toMatchObject({ tree_size: 2 });
  witnesses.shift();
  await cosign();
  expect((await findReceipt({ pool, archive: emptyArchive(pool), key }, early)).log).toMatchObject({ tree_size: 6 });
});

test('an export has cosignatures while receipts come in, and leaves none unproven that is older than a minute', async () => {
  await grow(3);
  await cosign();
  await grow(2);
  expect(await exported(NOW + 59_000)).toMatchObject({
    checkpoint: expect.stringMatching(/\n3\n[\s\S]*— two\.example /),
    receipts: 5,
    logged: 3,
  });
  expect(await exported(NOW + 60_000)).toMatchObject({ checkpoint: expect.stringMatching(/\n5\n/), receipts: 5, logged: 5 });
  // Others of the log are no reason to leave the cosigned state.
  await pool.query('update receipts set account_id = $1 where log_index > 2', [newId()]);
  expect(await exported(NOW + 60_000)).toMatchObject({ checkpoint: expect.stringMatching(/\n3\n/), receipts: 3, logged: 3 });
});

async function exported(now: number): Promise<object> {
  const deps = { pool, archive: emptyArchive(pool), key, clock: { now: () => now }, keySet: () => storedKeySet(pool), isAnchoring: false };
  const lines: string[] = [];
  for await (const part of exportReceipts(deps, { accountId: ACCOUNT_ID, livemode: true }, '2026-11'))
    lines.push(...part.toString().trimEnd().split('\n'));
  const [header = '', ...rest] = lines;
  return { ...JSON.parse(rest.at(-1) ?? ''), checkpoint: JSON.parse(header).checkpoint };
}

test('a witness that has forgotten what was said, or that was never told, is met where it stands', async () => {
  await grow(2);
  await cosign();
  await pool.query('delete from receipt_log_witnesses');
  await grow(2);
  await cosign();
  expect(refusals).toBe(0);
  expect((await newestCheckpoint(pool)).note.match(/^— /gm)).toHaveLength(3);
});

test('a log that contradicts what a witness has seen is stopped, until somebody has looked', async () => {
  await grow(4);
  await cosign();
  // Put back from an older backup, and gone on from there: another log of the same name.
  await pool.query('truncate receipts, receipt_log_tiles, receipt_log_checkpoints');
  await pool.query('update receipt_log set size = 0');
  await grow(2);
  await cosign();
  expect(refusals).toBe(2);
  expect((await stopsOf(pool)).map(({ seen }) => seen).sort()).toEqual(['witness one.example', 'witness two.example']);
  await grow(5);
  expect(await newestCheckpoint(pool)).toMatchObject({ size: 2 });
  // Somebody has looked: it was a backup that was put back, and the log goes on, though the witnesses still refuse it.
  const own = { receipt: [key], checkpoint: [logKey] };
  await resumeLog(pool, own, (await standingOfLog(pool, own)).root);
  await grow(1);
  await cosign();
  expect(refusals).toBe(2);
  expect(await stopsOf(pool)).toEqual([]);
  expect((await newestCheckpoint(pool)).size).toBe(8);
  expect((await newestCheckpoint(pool)).note.match(/^— /gm)).toHaveLength(1);
});

test('of the lines that a witness answers, the one of its own key is kept', async () => {
  await grow(1);
  const stranger = { name: 'one.example', kind: 'cosignature', publicKey: new Uint8Array(32) } as const;
  await cosign(({ url }) => ({
    async submit(submission, signal) {
      const answer = await tlogWitness(url).submit(submission, signal);
      return answer.state === 'cosigned' ? { ...answer, lines: cosignatureLine(stranger, 0n, new Uint8Array(64)) + answer.lines } : answer;
    },
  }));
  expect(verifyCheckpoint((await newestCheckpoint(pool)).note, await storedKeySet(pool), trust(2))).toMatchObject({ valid: true });
});

test('a witness that is away holds up nobody', async () => {
  await witnesses[0]?.close();
  await grow(1);
  await cosign();
  expect(refusals).toBe(0);
  expect((await newestCheckpoint(pool)).note.match(/^— /gm)).toHaveLength(2);
  witnesses[0] = await started('one.example', 1);
  await cosign();
  expect((await newestCheckpoint(pool)).note.match(/^— /gm)).toHaveLength(3);
});
