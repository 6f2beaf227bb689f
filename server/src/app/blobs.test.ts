import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunks, keysOf, textOf } from '../adapters/blobs/conformance.ts';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { moveAlone } from './blobs.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let folder: string;
beforeAll(async () => {
  database = await testDatabase();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-move-')));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

test('of two moves at once one is refused, and no blob is lost', async () => {
  // As two commands have them, each its own.
  const [pool, otherPool] = [1, 2].map(() => openPool({ url: database.url, log: silentLog(), poolSize: 1 }));
  if (!pool || !otherPool) throw new Error('Two');
  const [from, to] = [await openLocalDisk(join(folder, 'from')), await openLocalDisk(join(folder, 'to'))];
  await from.put('org/a', chunks('content'), { maxBytes: 100 });
  let second: unknown;
  const storing: BlobStore = {
    ...aStore(to),
    async put(...of) {
      second = await moveAlone(otherPool, from, to).catch((error: unknown) => error);
      return to.put(...of);
    },
  };
  expect(await moveAlone(pool, from, storing)).toMatchObject({ blobs: 1 });
  expect(second).toMatchObject({ code: 'conflict' });
  expect(await textOf(to, 'org/a')).toBe('content');
  expect(await moveAlone(otherPool, from, to)).toMatchObject({ blobs: 0 });
  expect(await keysOf(to)).toEqual(['org/a']);
  await Promise.all([pool.end(), otherPool.end()]);
});

test('a move that loses its lock deletes nothing any more', async () => {
  const pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  const [from, to] = [await openLocalDisk(join(folder, 'left')), await openLocalDisk(join(folder, 'copied'))];
  await from.put('org/a', chunks('content'), { maxBytes: 100 });
  let session: PoolClient | undefined;
  pool.once('acquire', (client) => {
    session = client;
  });
  const cut: BlobStore = {
    ...aStore(to),
    async put(...of) {
      const isLost = new Promise<void>((resolve) => {
        session?.once('end', resolve);
      });
      await pool.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      );
      await isLost;
      return to.put(...of);
    },
  };
  await expect(moveAlone(pool, from, cut)).rejects.toThrow();
  // The move gives up with its lock, whatever is still being written.
  await expect.poll(() => textOf(to, 'org/a')).toBe('content');
  expect(await textOf(from, 'org/a')).toBe('content');
  expect(await moveAlone(pool, from, to)).toMatchObject({ blobs: 1 });
  await pool.end();
});

const aStore = (store: BlobStore): BlobStore => ({
  put: (...of) => store.put(...of),
  get: (...of) => store.get(...of),
  delete: (...of) => store.delete(...of),
  list: (prefix) => store.list(prefix),
  check: () => store.check(),
  sweepUnfinished: (before) => store.sweepUnfinished(before),
});
