import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, type Queryable, type RowOf, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { readSegments, type Segment } from './content.ts';
import type { FileBlob, Upload } from './entities.ts';
import { deleteParts, type FilesDeps, insertFile } from './files.ts';
import type { Owner } from './owner.ts';
import { requireRoom, takeRoom } from './storage.ts';
import {
  FILE_COLUMNS,
  type FilePurpose,
  fileOf,
  isPartId,
  isUploadId,
  type NewFile,
  newPartId,
  newUploadId,
  type StoredFile,
} from './stored-file.ts';
import { tables } from './tables.ts';

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

type UploadRow = RowOf<typeof Upload>;
type PartRow = Pick<RowOf<typeof FileBlob>, 'part_id' | 'key' | 'bytes'>;

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
      const row = await firstOf(
        pool,
        tables
          .insertInto('uploads')
          .values({
            ...{ id: newUploadId(), account_id: owner.accountId, livemode: owner.livemode, purpose, filename, content_type: contentType },
            ...{ bytes: BigInt(bytes), lifetime_seconds: lifetimeSeconds ?? null, status: 'pending' },
            ...{ created_at: new Date(now), expires_at: new Date(now + LIFETIME_MS) },
          })
          .returningAll(),
      );
      return uploadOf(existing(row), null);
    },

    async requirePending(owner, uploadId) {
      requirePending(await find(pool, clock, owner, uploadId));
    },

    addPart: (owner, uploadId, { key, bytes }) =>
      inTransaction(pool, async (client) => {
        requirePending(await find(client, clock, owner, uploadId, 'for update'));
        const held = await firstOf(
          client,
          tables
            .selectFrom('file_blobs')
            .select(({ fn }) => fn.countAll<bigint>().as('parts'))
            .where('upload_id', '=', uploadId),
        );
        if (Number(held?.parts ?? 0n) >= MAX_PARTS) throw new Problem('conflict', `An upload has ${MAX_PARTS} parts at most.`);
        await takeRoom(client, owner.accountId, bytes, storageBytes);
        const part = { id: newPartId(), uploadId, createdAt: new Date(clock.now()) };
        const { accountId } = owner;
        const blob = {
          key,
          account_id: accountId,
          bytes: BigInt(bytes),
          upload_id: uploadId,
          part_id: part.id,
          created_at: part.createdAt,
        };
        await run(client, tables.insertInto('file_blobs').values(blob));
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
        await run(client, tables.updateTable('uploads').set({ status: 'completed', file_id: file.id }).where('id', '=', uploadId));
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
        await run(client, tables.updateTable('uploads').set({ status: 'cancelled' }).where('id', '=', uploadId));
        return { upload: uploadOf({ ...row, status: 'cancelled' }, null), leftOver: await deleteParts(client, [uploadId]) };
      });
      await discard(leftOver);
      return upload;
    },
  };
}

/** With its status as of now: it expires by the clock, whether or not the sweep has come by. @throws Problem `not_found` */
async function find(db: Queryable, clock: Clock, owner: Owner, uploadId: string, lock: 'for update' | '' = ''): Promise<UploadRow> {
  if (!isUploadId(uploadId)) throw noSuchUpload();
  const found = tables
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', uploadId)
    .where('account_id', '=', owner.accountId)
    .where('livemode', '=', owner.livemode);
  const row = existing(await firstOf(db, lock === '' ? found : found.forUpdate()));
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
async function partsInOrder(db: Queryable, upload: UploadRow, partIds: readonly string[]): Promise<PartRow[]> {
  const rows = await rowsOf(
    db,
    tables
      .selectFrom('file_blobs')
      .select(['part_id', 'key', 'bytes'])
      .where('upload_id', '=', upload.id)
      .where('file_id', 'is', null)
      .where('part_id', '=', anyOf(partIds.filter(isPartId))),
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
  const parts = await rowsOf(
    client,
    tables.selectFrom('file_blobs').select('part_id').where('file_id', '=', row.file_id).orderBy('position'),
  );
  const file = await firstOf(client, tables.selectFrom('files').select(FILE_COLUMNS).where('id', '=', row.file_id));
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
