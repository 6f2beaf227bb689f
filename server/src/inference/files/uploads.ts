import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { readSegments, type Segment } from './content.ts';
import { deleteParts, type FilesDeps, insertFile } from './files.ts';
import type { Owner } from './owner.ts';
import { requireRoom, takeRoom } from './storage.ts';
import {
  FILE_COLUMNS,
  type FilePurpose,
  type FileRow,
  fileOf,
  isPartId,
  isUploadId,
  type NewFile,
  newPartId,
  newUploadId,
  type StoredFile,
} from './stored-file.ts';

const LIFETIME_MS = 3_600_000;
const MAX_PARTS = 10_000;

/** A file that is sent in parts. `file` is what a completed one has become, unless that was deleted. */
export interface StoredUpload {
  readonly id: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly bytes: number;
  readonly status: 'pending' | 'completed' | 'cancelled' | 'expired';
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly file: StoredFile | null;
}

export interface StoredPart {
  readonly id: string;
  readonly uploadId: string;
  readonly createdAt: Date;
}

export interface CompleteInput {
  /** In the order of the file. */
  readonly partIds: readonly string[];
  /** In hex. */
  readonly md5?: string | undefined;
}

/** Uploads in parts. Somebody else's upload is missing, exactly as one that never was. */
export interface Uploads {
  /** @throws Problem `storage_limit_reached` when the whole would not fit */
  create(owner: Owner, input: NewFile & { readonly purpose: FilePurpose; readonly bytes: number }): Promise<StoredUpload>;
  /** Whether parts are still taken, before one is sent. @throws Problem `not_found`, `conflict` */
  requirePending(owner: Owner, uploadId: string): Promise<void>;
  /** When it refuses, the blob is still the caller's to delete. @throws Problem `not_found`, `conflict`, `storage_limit_reached` */
  addPart(owner: Owner, uploadId: string, blob: Segment): Promise<StoredPart>;
  /** A repeat with the same parts is answered the same. @throws Problem `not_found`, `conflict`, `validation_failed` */
  complete(owner: Owner, uploadId: string, input: CompleteInput): Promise<StoredUpload>;
  /** A repeat changes nothing. @throws Problem `not_found`, `conflict` */
  cancel(owner: Owner, uploadId: string): Promise<StoredUpload>;
}

interface UploadRow {
  readonly id: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly content_type: string;
  readonly bytes: bigint;
  readonly lifetime_seconds: number | null;
  readonly status: StoredUpload['status'];
  readonly file_id: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

interface PartRow {
  readonly part_id: string;
  readonly key: string;
  readonly bytes: bigint;
}

/**
 * Every change of an upload locks its row first, so adding, completing and cancelling come one after the other, and each sees what the one
 * before has left.
 */
export function createUploads({ pool, blobs, clock, log, storageBytes }: FilesDeps): Uploads {
  async function discard(keys: readonly string[]): Promise<void> {
    const failed = (error: unknown) => log.warn({ err: error }, 'a blob is left to the sweeper');
    await Promise.all(keys.map((key) => blobs.delete(key).catch(failed)));
  }

  /**
   * Reads all parts, which takes too long for a lock. Parts never change, so they are the same under the lock that completes the upload,
   * or gone. Of an upload that is completed already there is nothing to check.
   */
  async function checkMd5(owner: Owner, uploadId: string, partIds: readonly string[], expected: string): Promise<void> {
    const parts = await inTransaction(pool, async (client) => {
      const row = await find(client, clock, owner, uploadId, 'for update');
      if (row.status === 'completed') return undefined;
      requirePending(row);
      return partsInOrder(client, row, partIds);
    });
    if (!parts) return;
    const actual = await md5Of(parts).catch(async (error: unknown) => {
      // Cancelling or completing it otherwise may have deleted the parts meanwhile, which is no failure.
      requirePending(await find(pool, clock, owner, uploadId));
      throw error;
    });
    if (actual !== expected.toLowerCase()) throw invalid('md5', `The parts in this order have the MD5 ${actual}`);
  }

  async function md5Of(parts: readonly PartRow[]): Promise<string> {
    const segments = parts.map((part) => ({ key: part.key, bytes: Number(part.bytes) }));
    const end = segments.reduce((sum, { bytes }) => sum + bytes, 0) - 1;
    const hash = createHash('md5');
    for await (const chunk of await readSegments(blobs, segments, { start: 0, end })) hash.update(chunk);
    return hash.digest('hex');
  }

  return {
    async create(owner, { purpose, filename, contentType, bytes, lifetimeSeconds }) {
      await requireRoom(pool, owner.accountId, bytes, storageBytes);
      const now = clock.now();
      const { rows } = await pool.query<UploadRow>(
        `insert into uploads (id, account_id, livemode, purpose, filename, content_type, bytes, lifetime_seconds, status, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $10) returning *`,
        [
          ...[newUploadId(), owner.accountId, owner.livemode, purpose, filename, contentType, bytes, lifetimeSeconds ?? null],
          ...[new Date(now), new Date(now + LIFETIME_MS)],
        ],
      );
      return uploadOf(existing(rows[0]), null);
    },

    async requirePending(owner, uploadId) {
      requirePending(await find(pool, clock, owner, uploadId));
    },

    addPart: (owner, uploadId, { key, bytes }) =>
      inTransaction(pool, async (client) => {
        requirePending(await find(client, clock, owner, uploadId, 'for update'));
        const { rows } = await client.query<{ parts: bigint }>('select count(*) as parts from file_blobs where upload_id = $1', [uploadId]);
        if (Number(rows[0]?.parts ?? 0n) >= MAX_PARTS) throw new Problem('conflict', `An upload has ${MAX_PARTS} parts at most.`);
        await takeRoom(client, owner.accountId, bytes, storageBytes);
        const part = { id: newPartId(), uploadId, createdAt: new Date(clock.now()) };
        await client.query(
          'insert into file_blobs (key, account_id, bytes, upload_id, part_id, created_at) values ($1, $2, $3, $4, $5, $6)',
          [key, owner.accountId, bytes, uploadId, part.id, part.createdAt],
        );
        return part;
      }),

    async complete(owner, uploadId, { partIds, md5 }) {
      if (md5 !== undefined) await checkMd5(owner, uploadId, partIds, md5);
      const { upload, leftOver } = await inTransaction(pool, async (client) => {
        const row = await find(client, clock, owner, uploadId, 'for update');
        if (row.status === 'completed') return { upload: await repeated(client, row, partIds), leftOver: [] };
        requirePending(row);
        await partsInOrder(client, row, partIds);
        const { purpose, filename, content_type: contentType, lifetime_seconds } = row;
        const input = { purpose, filename, contentType, lifetimeSeconds: lifetime_seconds ?? undefined };
        const file = await insertFile(client, owner, { ...input, bytes: Number(row.bytes), createdAt: new Date(clock.now()) });
        await client.query(
          `update file_blobs set file_id = $1, position = named.position
             from unnest($2::text[]) with ordinality as named (part_id, position) where file_blobs.part_id = named.part_id`,
          [file.id, partIds],
        );
        await client.query(`update uploads set status = 'completed', file_id = $2 where id = $1`, [uploadId, file.id]);
        const keys = await deleteParts(client, [uploadId]);
        return { upload: uploadOf({ ...row, status: 'completed' }, file), leftOver: keys };
      });
      await discard(leftOver);
      return upload;
    },

    async cancel(owner, uploadId) {
      const { upload, leftOver } = await inTransaction(pool, async (client) => {
        const row = await find(client, clock, owner, uploadId, 'for update');
        if (row.status === 'cancelled') return { upload: uploadOf(row, null), leftOver: [] };
        requirePending(row);
        await client.query(`update uploads set status = 'cancelled' where id = $1`, [uploadId]);
        return { upload: uploadOf({ ...row, status: 'cancelled' }, null), leftOver: await deleteParts(client, [uploadId]) };
      });
      await discard(leftOver);
      return upload;
    },
  };
}

/** With its status as of now: it expires by the clock, whether or not the sweep has come by. @throws Problem `not_found` */
async function find(
  client: Pick<Pool | PoolClient, 'query'>,
  clock: Clock,
  owner: Owner,
  uploadId: string,
  lock: 'for update' | '' = '',
): Promise<UploadRow> {
  if (!isUploadId(uploadId)) throw noSuchUpload();
  const { rows } = await client.query<UploadRow>(`select * from uploads where id = $1 and account_id = $2 and livemode = $3 ${lock}`, [
    uploadId,
    owner.accountId,
    owner.livemode,
  ]);
  const row = existing(rows[0]);
  return row.status === 'pending' && row.expires_at.getTime() <= clock.now() ? { ...row, status: 'expired' } : row;
}

function existing(row: UploadRow | undefined): UploadRow {
  if (!row) throw noSuchUpload();
  return row;
}

const noSuchUpload = (): Problem => new Problem('not_found', 'There is no such upload.', { param: 'upload_id' });

function requirePending({ status }: UploadRow): void {
  if (status !== 'pending') throw new Problem('conflict', `The upload is ${status}: begin another one.`);
}

/** @throws Problem `validation_failed` for parts that are not there, are named twice, or do not add up */
async function partsInOrder(client: Pick<Pool | PoolClient, 'query'>, upload: UploadRow, partIds: readonly string[]): Promise<PartRow[]> {
  const { rows } = await client.query<PartRow>(
    'select part_id, key, bytes from file_blobs where upload_id = $1 and file_id is null and part_id = any($2)',
    [upload.id, partIds.filter(isPartId)],
  );
  const byId = new Map(rows.map((row) => [row.part_id, row]));
  const parts = partIds.map((partId) => {
    const part = byId.get(partId);
    if (!part) throw invalid('part_ids', `The upload has no part ${partId.slice(0, 60)}`);
    return part;
  });
  if (byId.size < partIds.length) throw invalid('part_ids', 'A part is named twice');
  const sum = parts.reduce((total, { bytes }) => total + bytes, 0n);
  if (sum !== upload.bytes) throw invalid('part_ids', `The parts have ${sum} bytes, and the upload was announced with ${upload.bytes}`);
  return parts;
}

/** A client that did not get the first answer asks again. @throws Problem `conflict` */
async function repeated(client: PoolClient, row: UploadRow, partIds: readonly string[]): Promise<StoredUpload> {
  const { rows: parts } = await client.query<{ part_id: string }>('select part_id from file_blobs where file_id = $1 order by position', [
    row.file_id,
  ]);
  const { rows: files } = await client.query<FileRow>(`select ${FILE_COLUMNS} from files where id = $1`, [row.file_id]);
  const [file] = files;
  const isSame = parts.length === partIds.length && parts.every(({ part_id }, index) => part_id === partIds[index]);
  if (!file || !isSame) throw new Problem('conflict', 'The upload is completed, with other parts: begin another one.');
  return uploadOf(row, fileOf(file));
}

const invalid = (field: string, msg: string): Problem => invalidInput([{ loc: ['body', field], msg, type: 'invalid' }]);

const uploadOf = (row: UploadRow, file: StoredFile | null): StoredUpload => ({
  id: row.id,
  purpose: row.purpose,
  filename: row.filename,
  bytes: Number(row.bytes),
  status: row.status,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  file,
});
