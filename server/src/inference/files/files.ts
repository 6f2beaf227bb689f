import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { BlobStore, ByteRange } from '../../adapters/blobs/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { anyOf, firstOf, ifGiven, rowsOf, run } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { newFileBlobKey } from './blob-keys.ts';
import { readSegments, type Segment } from './content.ts';
import type { Owner, Reader } from './owner.ts';
import { giveRoom, requireRoom, takeRoom } from './storage.ts';
import {
  defaultLifetimeSeconds,
  FILE_COLUMNS,
  fileOf,
  isFileId,
  type NewFile,
  newFileId,
  type StoredFile,
  type StoredPurpose,
} from './stored-file.ts';
import { tables } from './tables.ts';

export interface FileQuery {
  /** Id of the last file of the page before; it need not exist any more. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly purpose?: string | undefined;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** A file that can be read as often as wanted. */
export interface OpenFile {
  readonly file: StoredFile;
  /** Both ends inclusive and inside the file; without a range, all of it. @throws Problem `storage_unavailable` */
  read(range?: Required<ByteRange>): Promise<Readable>;
}

/** What commits together with a file, or not at all. */
export type Alongside = (client: PoolClient, file: StoredFile) => Promise<void>;

/** Stored files. Somebody else's file is missing, exactly as one that never was. */
export interface Files {
  /** Stores what `content` yields. `alongside`: written in the transaction that makes the file. @throws Problem `payload_too_large`, `storage_limit_reached`, `storage_unavailable` */
  create(owner: Owner, input: NewFile, content: AsyncIterable<Uint8Array>, alongside?: Alongside): Promise<StoredFile>;
  /**
   * Makes a file of a blob that is there already, under a key of `newFileBlobKey`. When it refuses, the blob is still the caller's to delete.
   * @throws Problem `storage_limit_reached`
   */
  adopt(owner: Owner, input: NewFile, blob: Segment, alongside?: Alongside): Promise<StoredFile>;
  /** @throws Problem `not_found` */
  get(owner: Reader, fileId: string): Promise<StoredFile>;
  /** @throws Problem `not_found` */
  open(owner: Reader, fileId: string): Promise<OpenFile>;
  list(owner: Owner, query: FileQuery): Promise<FilePage>;
  /** @throws Problem `not_found` */
  delete(owner: Reader, fileId: string): Promise<void>;
  /** Refuses early what would not fit in the end. @throws Problem `storage_limit_reached` */
  requireRoom(owner: Owner, bytes: number): Promise<void>;
}

export interface FilesDeps {
  readonly pool: Pool;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
  /** What all files of an account, and the parts of its uploads, may take together. */
  readonly storageBytes: number;
}

/** What the service itself makes of a batch can be larger than what a caller may send at once. */
const MAX_BYTES = 8 * 1024 ** 3;

/** Those that have not expired. */
const livingFilesOf = ({ accountId, livemode }: Reader, clock: Clock) =>
  tables
    .selectFrom('files')
    .select(FILE_COLUMNS)
    .where('account_id', '=', accountId)
    .where((eb) => ifGiven(livemode, (mode) => eb('livemode', '=', mode)))
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', new Date(clock.now()))]));

export function createFiles({ pool, blobs, clock, log, storageBytes }: FilesDeps): Files {
  const discard = (key: string) => blobs.delete(key).catch((error: unknown) => log.warn({ err: error }, 'a blob is left to the sweeper'));

  async function rowOf(owner: Reader, fileId: string): Promise<StoredFile> {
    if (!isFileId(fileId)) throw noSuchFile();
    const row = await firstOf(pool, livingFilesOf(owner, clock).where('id', '=', fileId));
    if (!row) throw noSuchFile();
    return fileOf(row);
  }

  const files: Files = {
    async create(owner, input, content, alongside) {
      await files.requireRoom(owner, 0);
      const key = newFileBlobKey(owner.accountId);
      const outcome = await blobs.put(key, content, { maxBytes: Math.min(MAX_BYTES, storageBytes) });
      if (!outcome.stored) throw new Problem('payload_too_large', `A file may have ${outcome.maxBytes} bytes.`);
      try {
        return await files.adopt(owner, input, { key, bytes: outcome.size }, alongside);
      } catch (error) {
        // Of any other failure nobody knows whether the row is there.
        if (error instanceof Problem) await discard(key);
        throw error;
      }
    },

    adopt: (owner, input, { key, bytes }, alongside) =>
      inTransaction(pool, async (client) => {
        await takeRoom(client, owner.accountId, bytes, storageBytes);
        const file = await insertFile(client, owner, { ...input, bytes, createdAt: new Date(clock.now()) });
        const blob = { key, account_id: owner.accountId, bytes: BigInt(bytes), file_id: file.id, position: 0, created_at: file.createdAt };
        await run(client, tables.insertInto('file_blobs').values(blob));
        await alongside?.(client, file);
        return file;
      }),

    get: rowOf,

    async open(owner, fileId) {
      const file = await rowOf(owner, fileId);
      const blobRows = await rowsOf(
        pool,
        tables.selectFrom('file_blobs').select(['key', 'bytes']).where('file_id', '=', fileId).orderBy('position'),
      );
      const segments = blobRows.map(({ key, bytes }) => ({ key, bytes: Number(bytes) }));
      // It was deleted between the two queries.
      if (segments.length === 0) throw noSuchFile();
      return {
        file,
        read: (range = { start: 0, end: file.bytes - 1 }) =>
          readSegments(blobs, segments, range).catch(async (error: unknown) => {
            // Its deletion may have overtaken us, and is no failure.
            await rowOf(owner, fileId);
            throw error;
          }),
      };
    },

    async list({ accountId, livemode }, { after, limit, order, purpose }) {
      if (after !== undefined && !isFileId(after)) throw noSuchFile('after');
      // Ids are in the order of creation, so going on after one needs no look at it, and works when it is gone.
      const rows = await rowsOf(
        pool,
        livingFilesOf({ accountId, livemode }, clock)
          .where((eb) => ifGiven(purpose, (wanted) => eb('purpose', '=', sql<StoredPurpose>`${wanted}`)))
          .where((eb) => ifGiven(after, (last) => eb('id', order === 'asc' ? '>' : '<', last)))
          .orderBy('id', order)
          .limit(limit + 1),
      );
      return { files: rows.slice(0, limit).map(fileOf), hasMore: rows.length > limit };
    },

    async delete(owner, fileId) {
      await rowOf(owner, fileId);
      const keys = await inTransaction(pool, (client) => deleteFiles(client, [fileId]));
      if (keys.length === 0) throw noSuchFile();
      // After the rows, never before: a row whose blob is gone would be a file that cannot be read, a blob without a row is swept.
      await Promise.all(keys.map(discard));
    },

    requireRoom: ({ accountId }, bytes) => requireRoom(pool, accountId, bytes, storageBytes),
  };
  return files;
}

/** Writes the row of a file; its blobs are the caller's to write in the same transaction. */
export async function insertFile(
  client: PoolClient,
  { accountId, livemode }: Owner,
  { purpose, filename, contentType, lifetimeSeconds, bytes, createdAt }: NewFile & { readonly bytes: number; readonly createdAt: Date },
): Promise<StoredFile> {
  const seconds = lifetimeSeconds ?? defaultLifetimeSeconds(purpose);
  const expiresAt = seconds === null ? null : new Date(createdAt.getTime() + seconds * 1000);
  const row = await firstOf(
    client,
    tables
      .insertInto('files')
      .values({
        ...{ id: newFileId(), account_id: accountId, livemode, purpose, filename, content_type: contentType },
        ...{ bytes: BigInt(bytes), created_at: createdAt, expires_at: expiresAt },
      })
      .returning(FILE_COLUMNS),
  );
  if (!row) throw new Error('An insert returned no row');
  return fileOf(row);
}

/** Deletes rows of files and gives their room back. @returns the keys of the blobs, which are the caller's to delete after the commit */
export async function deleteFiles(client: PoolClient, fileIds: readonly string[]): Promise<string[]> {
  const ofFiles = tables.deleteFrom('file_blobs').where('file_id', '=', anyOf(fileIds));
  return deleteBlobRows(client, ofFiles, async () => {
    await run(client, tables.deleteFrom('files').where('id', '=', anyOf(fileIds)));
  });
}

/** The same for the parts of uploads that have become no file. */
export const deleteParts = (client: PoolClient, uploadIds: readonly string[]): Promise<string[]> =>
  deleteBlobRows(
    client,
    tables.deleteFrom('file_blobs').where('file_id', 'is', null).where('upload_id', '=', anyOf(uploadIds)),
    async () => {},
  );

type DeletedBlobs = ReturnType<typeof tables.deleteFrom<'file_blobs'>>;

async function deleteBlobRows(client: PoolClient, deleted: DeletedBlobs, then: () => Promise<void>): Promise<string[]> {
  const rows = await rowsOf(client, deleted.returning(['key', 'account_id', 'bytes']));
  await then();
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id);
  // In one order for everybody: two transactions that took accounts in different orders could wait for each other.
  for (const [accountId, blobs] of [...byAccount].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await giveRoom(
      client,
      accountId,
      blobs.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    );
  return rows.map(({ key }) => key);
}

const noSuchFile = (param = 'file_id'): Problem => new Problem('not_found', 'There is no such file.', { param });
