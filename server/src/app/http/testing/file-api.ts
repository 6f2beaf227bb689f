import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract } from '@tallygate/contract';
import { openLocalDisk } from '../../../adapters/blobs/local-disk.ts';
import type { BlobStore } from '../../../adapters/blobs/port.ts';
import { createFiles, createUploads, fileRoutes, uploadRoutes } from '../../../inference/files/index.ts';
import { silentLog } from '../../../kernel/log.ts';
import { createIdempotency } from '../../idempotency.ts';
import { endpointsOf } from '../endpoint.ts';
import { type FileLimits, fileTransferRoutes } from '../file-api.ts';
import { MovableClock, openTestDatabase, startInstance } from './account-api.ts';
import { openFrontUnderTest } from './front.ts';

export const STORAGE_BYTES = 1_000_000;
const LIMITS: FileLimits = { maxFileBytes: 500_000, maxPartBytes: 200_000, idleTimeoutMs: 10_000, timeoutMs: 20_000 };

export type FileWorld = Awaited<ReturnType<typeof openFileWorld>>;

/** A blob store whose methods a test can replace one by one. */
type Faults = Partial<Pick<BlobStore, 'put' | 'get' | 'delete'>>;

/** Files over a separate database and folder: the account API with their JSON operations, and the transfers beside it. */
export async function openFileWorld() {
  const db = await openTestDatabase();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tallygate-files-')));
  const disk = await openLocalDisk(folder);
  const faults: Faults = {};
  const blobs: BlobStore = {
    put: (...args) => (faults.put ?? disk.put.bind(disk))(...args),
    get: (...args) => (faults.get ?? disk.get.bind(disk))(...args),
    delete: (...args) => (faults.delete ?? disk.delete.bind(disk))(...args),
    list: (prefix) => disk.list(prefix),
    check: () => disk.check(),
    sweepUnfinished: (before) => disk.sweepUnfinished(before),
  };
  const clock = new MovableClock();
  const log = silentLog();
  const { pool } = db.database;
  const deps = { pool, blobs, clock, log, storageBytes: STORAGE_BYTES };
  const files = createFiles(deps);
  const uploads = createUploads(deps);
  const api = await startInstance(db.database, db.url, {
    clock,
    endpoints: [...endpointsOf(contract.files, fileRoutes(files)), ...endpointsOf(contract.uploads, uploadRoutes(uploads))],
  });
  const idempotency = createIdempotency({ pool, clock, log });
  const front = await openFrontUnderTest(
    (parts) => fileTransferRoutes({ ...parts, files, uploads, blobs, idempotency, log, limits: LIMITS }),
    { authenticator: api.authenticator, clock, log },
  );

  return {
    api,
    files,
    uploads,
    pool,
    disk,
    blobs,
    clock,
    faults,
    transferUrl: front.url,
    /** Keys of everything in the store. */
    async stored(): Promise<string[]> {
      const keys: string[] = [];
      for await (const key of disk.list('')) keys.push(key);
      return keys.sort();
    },
    async close() {
      idempotency.close();
      front.close();
      await api.close();
      await db.close();
      rmSync(folder, { recursive: true });
    },
  };
}
