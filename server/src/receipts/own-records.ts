import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { anyOf, rowsOf } from '../kernel/statements.ts';
import type { SigningKey } from './signing-keys.ts';
import { tables } from './tables.ts';

/**
 * What the service has put down for itself. It lies in the database, and whoever writes there can delete a record, or put back one that once
 * was there, but not make one: each is sealed under every key that the service is configured with.
 */
export interface OwnRecords {
  has(record: string): boolean;
  /** Those that begin so. */
  beginningWith(start: string): string[];
}

type Database = Pool | PoolClient;

/** A key of its own for seals (RFC 5869): the signing key signs what it is published for, and nothing else. */
function sealOf(record: string, { privateKey }: SigningKey): Buffer {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'tallygate-own-records/v1', 32));
  return createHmac('sha256', key).update(record).digest();
}

/** Those that one of the keys has sealed; others are as if they were not there. */
export async function ownRecords(db: Database, keys: readonly SigningKey[]): Promise<OwnRecords> {
  const byKid = new Map(keys.map((key) => [key.kid, key]));
  const known = tables.selectFrom('own_records').select(['record', 'sealed_by', 'seal']);
  const rows = await rowsOf(db, known.where('sealed_by', '=', anyOf([...byKid.keys()])));
  const held = new Set<string>();
  for (const { record, sealed_by, seal } of rows) {
    const key = byKid.get(sealed_by);
    const own = key && !held.has(record) ? sealOf(record, key) : undefined;
    if (own && own.length === seal.length && timingSafeEqual(own, seal)) held.add(record);
  }
  return { has: (record) => held.has(record), beginningWith: (start) => [...held].filter((record) => record.startsWith(start)) };
}

/** Under every key, so that each of them is enough once others are gone. */
export async function putDown(db: Database, records: readonly string[], keys: readonly SigningKey[]): Promise<void> {
  const sealed = records.flatMap((record) => keys.map((key) => ({ record, kid: key.kid, seal: sealOf(record, key) })));
  await db.query(
    `insert into own_records (record, sealed_by, seal) select * from unnest($1::text[], $2::text[], $3::bytea[])
     on conflict (record, sealed_by) do update set seal = excluded.seal`,
    [sealed.map(({ record }) => record), sealed.map(({ kid }) => kid), sealed.map(({ seal }) => seal)],
  );
}

export async function strikeOut(db: Database, record: string): Promise<void> {
  await db.query('delete from own_records where record = $1', [record]);
}
