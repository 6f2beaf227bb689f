import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isConsistent, parseCheckpoint } from '@tallygate/receipts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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
const FILES = ['master.key', 'receipt-signing.key', 'log-signing.key', 'bootstrap.json', 'blobs'];
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
  await administer('create database tallygate');
  gateway = await Gateway.start({ env: { DATABASE_URL: database() } });
});
afterAll(async () => {
  if (isMissing) return;
  await gateway?.remove();
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

test.skipIf(isMissing)('a log of receipts goes on from the state of the backup after dump, wipe and restore', async () => {
  const before = [await receiptOfRequest(), await receiptOfRequest()];
  const old = await checkpoint();
  const [dump, files] = [join(home, 'tallygate.dump'), join(home, 'files.tar.gz')];
  // As docs/guides/running.md says: while it runs, first the database, then the files.
  run('pg_dump', '--format=custom', `--file=${dump}`, database());
  execFileSync('tar', ['-C', gateway.dataDir, '-czf', files, ...FILES]);

  await gateway.stop();
  await administer('drop database tallygate');
  rmSync(gateway.dataDir, { recursive: true });

  await administer('create database tallygate');
  run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${database()}`, dump);
  mkdirSync(gateway.dataDir, { mode: 0o700 });
  execFileSync('tar', ['-C', gateway.dataDir, '-xzf', files]);
  await gateway.start();

  expect(await (await fetch(`${gateway.url}/health/ready`)).json()).toMatchObject({ status: 'ok', checks: { receipt_log: 'ok' } });
  for (const { id, index } of before) expect(await indexOf(id)).toBe(index);
  const after = await receiptOfRequest();
  expect(after.index).toBeGreaterThanOrEqual(old.size);
  const { size, root, origin } = await checkpoint();
  const { path } = await (await fetch(`${gateway.url}/v1/log/consistency?from=${old.size}&to=${size}`)).json();
  const hashes = path.map((hash: string) => Buffer.from(hash, 'base64'));
  expect(origin).toBe(old.origin);
  expect(isConsistent({ oldSize: old.size, oldRoot: old.root, newSize: size, newRoot: root, path: hashes })).toBe(true);
});
