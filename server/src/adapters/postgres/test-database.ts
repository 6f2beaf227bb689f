import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

interface TestDatabase {
  /** A migrated database that nobody else uses. */
  readonly url: string;
  /** Removes it; sessions that are still open are cut. */
  drop(): Promise<void>;
}

/** A fresh database for one test file, copied from the migrated template in some 60 ms. For tests only. */
export async function testDatabase(): Promise<TestDatabase> {
  const response = await fetch(inject('testPostgres'));
  const template = await response.text();
  if (!response.ok) throw new Error(`The PostgreSQL of this test run did not start: ${template}`);
  const server = template.replace(/[^/]*$/, 'postgres');
  const name = `t_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${template.split('/').at(-1)} strategy file_copy`);
  return { url: server.replace(/[^/]*$/, name), drop: () => administer(server, `drop database if exists ${name} with (force)`) };
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
