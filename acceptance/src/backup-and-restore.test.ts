import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isConsistent, parseCheckpoint } from '@tallygate/receipts';
import OpenAI, { toFile } from 'openai';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { BlobStore } from '../../server/src/adapters/blobs/port.ts';
import { openS3Bucket } from '../../server/src/adapters/blobs/s3/s3-bucket.ts';
import { s3Program, startS3 } from '../../server/src/adapters/blobs/s3/testing/s3-server.ts';
import { type Cluster, openCluster } from '../../server/src/adapters/postgres/cluster.ts';
import { launchPostmaster, type Postmaster, stopPostmaster, urlOf } from '../../server/src/adapters/postgres/postmaster.ts';
import { findPrograms, type Programs } from '../../server/src/adapters/postgres/programs.ts';
import { ask, HELLO, header } from './chat.ts';
import { Gateway } from './gateway.ts';
import { verifiedReceipt } from './ledger-audit.ts';

/** An installation with the programs of clients, such as Debian's: the embedded PostgreSQL has the server alone. */
const [BIN] = globSync('/usr/lib/postgresql/*/bin/pg_dump')
  .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  .map(dirname);
const isMissing = BIN === undefined;
const KEYS = ['master.key', 'receipt-signing.key', 'log-signing.key', 'bootstrap.json'];
const s3 = await s3Program();
const WITHIN = { timeout: 120_000, interval: 50 };

let home: string;
let programs: Programs;
let cluster: Cluster;
let postmaster: Postmaster;
let gateway: Gateway;

beforeAll(async () => {
  if (isMissing) return;
  home = mkdtempSync(join(tmpdir(), 'tallygate-backup-'));
  programs = await installedPrograms(BIN);
  cluster = await openCluster(join(home, 'postgres'), programs);
  const launch = await launchPostmaster(cluster, programs, {
    settings: { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' },
    deadline: Date.now() + 120_000,
  });
  if (!launch.started) throw new Error(launch.said);
  postmaster = launch.postmaster;
});
afterAll(async () => {
  if (isMissing) return;
  if (postmaster) await stopPostmaster(cluster, programs, postmaster);
  rmSync(home, { recursive: true, force: true });
});

/** As the embedded ones are run, with what an operator has installed. */
async function installedPrograms(bin: string): Promise<Programs> {
  const embedded = await findPrograms();
  return {
    owner: embedded.owner,
    commandLine: (program, args) => {
      const { file, args: rest, options } = embedded.commandLine(program, args);
      const isIt = (word: string) => word.endsWith(`/${program}`);
      const installed = (word: string) => (isIt(word) ? join(bin, program) : word);
      const position = [file, ...rest].findIndex(isIt);
      return { file: installed(file), args: rest.map((word, index) => (index + 1 === position ? installed(word) : word)), options };
    },
  };
}

const database = (): string => urlOf(cluster, postmaster).replace(/\/postgres$/, '/tallygate');
const run = (program: string, ...args: string[]) =>
  execFileSync(join(BIN ?? '', program), args, { stdio: ['ignore', 'ignore', 'inherit'] });

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(urlOf(cluster, postmaster));
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** A request that is answered, and its receipt, once the log has it. */
async function receiptOfRequest(): Promise<{ id: string; index: number }> {
  const answered = await ask(gateway, gateway.bootstrap.test_api_key, HELLO);
  expect(answered.status).toBe(200);
  const id = header(answered, 'x-receipt-id');
  return { id, index: await vi.waitFor(() => indexOf(id), WITHIN) };
}

async function indexOf(receiptId: string): Promise<number> {
  await verifiedReceipt(gateway, receiptId);
  const { log } = await (await fetch(`${gateway.url}/v1/receipts/${receiptId}`)).json();
  if (log.state !== 'logged') throw new Error('The log does not have it yet');
  return log.index;
}

async function checkpoint() {
  const note = await (await fetch(`${gateway.url}/v1/log/checkpoint`)).text();
  const parsed = parseCheckpoint(note.slice(0, note.indexOf('\n\n') + 1));
  if (!parsed) throw new Error('The checkpoint cannot be read');
  return parsed;
}

/** Where files, videos and archived months are, and how they are copied and brought back. */
interface Files {
  readonly variables: Readonly<Record<string, string>>;
  /** What of `DATA_DIR` is in the archive of the files. */
  readonly inArchive: readonly string[];
  copy(): Promise<void>;
  lose(): Promise<void>;
  bringBack(): Promise<void>;
  close(): Promise<void>;
}

const nothing = async (): Promise<void> => {};
const onDisk = async (): Promise<Files> => ({
  ...{ variables: {}, inArchive: [...KEYS, 'blobs'], copy: nothing, lose: nothing, bringBack: nothing, close: nothing },
});

/** Copied and brought back object by object, as `aws s3 sync` does it. */
async function inBucket(): Promise<Files> {
  const server = await startS3(s3 ?? '');
  const { bucket, endpoint = '', credentials } = server.settings;
  const [own, copied] = [openS3Bucket({ ...server.settings, prefix: 'gateway/' }), openS3Bucket({ ...server.settings, prefix: 'copy/' })];
  return {
    variables: {
      ...{ S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_PREFIX: 'gateway/' },
      ...{ S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? '', S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '' },
    },
    inArchive: KEYS,
    copy: () => sync(own, copied),
    lose: async () => {
      for await (const key of own.list('')) await own.delete(key);
    },
    bringBack: () => sync(copied, own),
    close: async () => {
      for (const one of [own, copied]) one.close();
      await server.stop();
    },
  };
}

async function sync(from: BlobStore, to: BlobStore): Promise<void> {
  for await (const key of from.list('')) {
    const { stream, size } = (await from.get(key)) ?? {};
    if (stream && size !== undefined) await to.put(key, stream, { maxBytes: size });
  }
}

describe.each([
  ['on the disk', onDisk, isMissing],
  ['in a bucket', inBucket, isMissing || s3 === undefined],
] as const)('with files %s, after dump, wipe and restore', (_where, open, isSkipped) => {
  let files: Files;

  beforeAll(async () => {
    if (isSkipped) return;
    files = await open();
    await administer('create database tallygate');
    gateway = await Gateway.start({ env: { DATABASE_URL: database(), ...files.variables } });
  });
  afterAll(async () => {
    if (isSkipped) return;
    await gateway?.remove();
    await files?.close();
    await administer('drop database if exists tallygate');
  });

  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.bootstrap.test_api_key, maxRetries: 0 });
  const textOf = async (id: string) => (await client().files.content(id)).text();

  test.skipIf(isSkipped)('the log of receipts goes on from its state, and every file is there', async () => {
    const before = [await receiptOfRequest(), await receiptOfRequest()];
    const old = await checkpoint();
    const { id: fileId } = await client().files.create({ file: await toFile(Buffer.from('kept'), 'a.txt'), purpose: 'evals' });
    const [dump, archive] = [join(home, 'tallygate.dump'), join(home, 'files.tar.gz')];
    // As docs/guides/running.md says: while it runs, first the database, then the files.
    run('pg_dump', '--format=custom', `--file=${dump}`, database());
    await files.copy();
    execFileSync('tar', ['-C', gateway.dataDir, '-czf', archive, ...files.inArchive]);

    await gateway.stop();
    await administer('drop database tallygate');
    rmSync(gateway.dataDir, { recursive: true });
    await files.lose();

    await administer('create database tallygate');
    run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${database()}`, dump);
    mkdirSync(gateway.dataDir, { mode: 0o700 });
    execFileSync('tar', ['-C', gateway.dataDir, '-xzf', archive]);
    await files.bringBack();
    await gateway.start();

    expect(await (await fetch(`${gateway.url}/health/ready`)).json()).toMatchObject({ status: 'ok', checks: { receipt_log: 'ok' } });
    for (const { id, index } of before) expect(await indexOf(id)).toBe(index);
    expect(await textOf(fileId)).toBe('kept');
    const after = await receiptOfRequest();
    expect(after.index).toBeGreaterThanOrEqual(old.size);
    await expectConsistent(old);
  });
});

/** The log goes on from a state that was seen before. */
async function expectConsistent(old: Awaited<ReturnType<typeof checkpoint>>): Promise<void> {
  const { size, root, origin } = await checkpoint();
  const { path } = await (await fetch(`${gateway.url}/v1/log/consistency?from=${old.size}&to=${size}`)).json();
  const hashes = path.map((hash: string) => Buffer.from(hash, 'base64'));
  expect(origin).toBe(old.origin);
  expect(isConsistent({ oldSize: old.size, oldRoot: old.root, newSize: size, newRoot: root, path: hashes })).toBe(true);
}
