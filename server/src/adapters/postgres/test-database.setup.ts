import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../app/migrate.ts';
import { migrations } from '../../app/migrations/index.ts';
import { silentLog } from '../../kernel/log.ts';
import { fillFrom, shippedList } from '../../money/catalog/index.ts';
import { openJobQueue } from '../queue/bullmq.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { databaseOf, inDatabase } from './test-url.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the connection URL of a template in the run's PostgreSQL, which the first question for each makes: a path per {@link Template}. */
    testPostgres: string;
  }
}

/** `migrated`, or `filled` with the shipped catalogue and the queue's schema too, as every gateway finds its database but at its first start. */
export type Template = 'migrated' | 'filled';

// Nothing here has to survive a crash of the machine, or lives long enough to be vacuumed.
const THROWAWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off', max_connections: '800' };

/** It asks for no password: to prove one takes two thirds of the CPU time that a connection takes, and a run opens some three thousand. */
function whoMayConnect(path: string): string {
  writeFileSync(path, 'local all all trust\nhost all all 127.0.0.1/32 trust\n', { mode: 0o644 });
  return path;
}

/** Where the server has its socket; PostgreSQL, which may run as another user, makes it. The path of one has 107 bytes at most. */
function socketFolder(): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = mkdtempSync(join(tmpdir(), 's-'));
  chmodSync(folder, 0o777);
  return folder;
}

/** By the socket: a statement takes two thirds of the CPU time that it takes over TCP. Host and port are there for what stands in between. */
function through(url: string, sockets: string | undefined): string {
  const by = new URL(url);
  if (sockets !== undefined) by.searchParams.set('host', sockets);
  return by.href;
}

/**
 * One PostgreSQL for a whole test run, started by the first test that asks for it and stopped at the end. The main process owns
 * it, so test processes may come and go; when the main process is killed, the orphan guard stops PostgreSQL at once.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'postgres-'));
  const sockets = socketFolder();
  let starting: ReturnType<typeof startEmbeddedPostgres> | undefined;
  const made = new Map<Template, Promise<string>>();
  const templateOf = (template: Template): Promise<string> => {
    const settings = { ...THROWAWAY, hba_file: whoMayConnect(`${dir}.hba`), ...(sockets && { unix_socket_directories: sockets }) };
    starting ??= startEmbeddedPostgres({ dir, settings, orphanGraceMs: 0 });
    const found = made.get(template) ?? starting.then(({ url }) => MAKERS[template](through(url, sockets), () => templateOf('migrated')));
    made.set(template, found);
    return found;
  };
  const door = createServer(({ url }, response) => {
    templateOf(url === '/filled' ? 'filled' : 'migrated').then(
      (template) => response.end(template),
      (failure) => response.writeHead(500).end(String(failure)),
    );
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  const address = door.address();
  project.provide('testPostgres', `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  return async () => {
    door.close();
    await starting?.then(({ stop }) => stop()).catch(() => {});
  };
}

const MAKERS: Readonly<Record<Template, (server: string, migrated: () => Promise<string>) => Promise<string>>> = {
  async migrated(server) {
    const url = await createDatabase(server, 'tallygate_template');
    await migrate(url, migrations);
    return url;
  },
  async filled(server, migrated) {
    const url = await createDatabase(server, 'tallygate_filled', await migrated());
    const pool = new pg.Pool({ connectionString: url });
    await fillFrom({ pool }, { source: 'shipped', ...shippedList() });
    await pool.end();
    const queue = await openJobQueue({ store: { databaseUrl: url }, log: silentLog() });
    await queue.close();
    return url;
  },
};

async function createDatabase(server: string, name: string, template?: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}${template === undefined ? '' : ` template ${databaseOf(template)}`}`);
  await client.end();
  return inDatabase(server, name);
}
