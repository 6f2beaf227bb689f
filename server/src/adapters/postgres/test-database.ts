import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { Template } from './test-database.setup.ts';
import { databaseOf, inDatabase } from './test-url.ts';

interface TestDatabase {
  /** A migrated database that nobody else uses. */
  readonly url: string;
  /** Removes it; sessions that are still open are cut. */
  drop(): Promise<void>;
}

/** A fresh database for one test file, copied from a template in some 60 ms. For tests only. */
export async function testDatabase(of: Template = 'migrated'): Promise<TestDatabase> {
  const response = await fetch(`${inject('testPostgres')}/${of}`);
  const template = await response.text();
  if (!response.ok) throw new Error(`The PostgreSQL of this test run did not start: ${template}`);
  const server = inDatabase(template, 'postgres');
  const name = `t_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${databaseOf(template)} strategy file_copy`);
  return { url: inDatabase(server, name), drop: () => administer(server, `drop database if exists ${name} with (force)`) };
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
