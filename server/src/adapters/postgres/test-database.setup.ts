import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../app/migrate.ts';
import { migrations } from '../../app/migrations/index.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the connection URL of the migrated template in the run's PostgreSQL, which the first question starts. */
    testPostgres: string;
  }
}

const TEMPLATE = 'tallygate_template';
// Nothing here has to survive a crash of the machine.
const THROWAWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' };

/**
 * One PostgreSQL for a whole test run, started by the first test that asks for it and stopped at the end. The main process owns
 * it, so test processes may come and go; when the main process is killed, the orphan guard stops PostgreSQL at once.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'postgres-'));
  let starting: ReturnType<typeof startWithTemplate> | undefined;
  const door = createServer((_request, response) => {
    starting ??= startWithTemplate(dir);
    starting.then(
      ({ url }) => response.end(templateOf(url)),
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

async function startWithTemplate(dir: string): ReturnType<typeof startEmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dir, settings: THROWAWAY, orphanGraceMs: 0 });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  await migrate(templateOf(postgres.url), migrations);
  return postgres;
}

const templateOf = (url: string): string => url.replace(/[^/]*$/, TEMPLATE);
