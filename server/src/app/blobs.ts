import type { Pool } from 'pg';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import { type Moved, moveBlobs, movingBlobs } from '../adapters/blobs/moving-blobs.ts';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { BucketSettings } from '../adapters/blobs/s3/bucket-settings.ts';
import { underLock } from '../kernel/advisory-lock.ts';
import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { isStoreFailure } from '../kernel/store-failure.ts';
import type { Closing } from './closing.ts';
import { ConfigError } from './config-error.ts';

/** Taken by whichever command moves blobs of this database's gateways. */
const MOVE_LOCK = 'blobs move';

interface BlobsDeps {
  /** Of the data directory. */
  readonly folder: string;
  /** Undefined: blobs are files of the folder. */
  readonly bucket: BucketSettings | undefined;
  readonly log: Log;
  readonly closing: Closing;
}

/**
 * Where blobs are: the local disk, or a bucket. What is still on the disk of a gateway that has a bucket now is read from there.
 * @throws ConfigError for a bucket that refuses; one that does not answer is waited for by the requests that need it
 */
export async function openBlobs({ folder, bucket, log, closing }: BlobsDeps): Promise<BlobStore> {
  const disk = await openLocalDisk(folder);
  if (bucket === undefined) return disk;
  const store = await openBucket(bucket, closing);
  await store.check().catch((error: unknown) => {
    if (!isStoreFailure(error)) throw new ConfigError([error instanceof Error ? error.message : String(error)]);
    log.error({ err: error, bucket: bucket.bucket }, 'the bucket does not answer: files cannot be read or stored');
  });
  if (!(await hasAny(disk))) return store;
  log.warn({ bucket: bucket.bucket }, 'files are still on the local disk: `blobs move` of the admin commands moves them into the bucket');
  return movingBlobs(disk, store);
}

/** What the operator's command says: where blobs are, or how many were moved. */
export async function blobsByOperator(pool: Pool, { folder, bucket, closing }: Omit<BlobsDeps, 'log'>, isToMove: boolean): Promise<string> {
  const disk = await openLocalDisk(folder);
  if (bucket === undefined) {
    if (isToMove) throw new ConfigError(['S3_BUCKET is not set: there is no bucket to move files into.']);
    return `${await countOf(disk)} blobs are in ${folder}; no bucket is set.`;
  }
  const store = await openBucket(bucket, closing);
  if (!isToMove) return `${await countOf(disk)} blobs are in ${folder}, ${await countOf(store)} in the bucket ${bucket.bucket}.`;
  const { blobs, bytes } = await moveAlone(pool, disk, store);
  return `Moved ${blobs} blobs, ${bytes} bytes, into the bucket ${bucket.bucket}.`;
}

/** The SDK is loaded where there is a bucket, and nowhere else. */
async function openBucket(settings: BucketSettings, closing: Closing): Promise<BlobStore> {
  const { openS3Bucket } = await import('../adapters/blobs/s3/s3-bucket.ts');
  const store = openS3Bucket(settings);
  closing.add('bucket', async () => store.close());
  return store;
}

async function hasAny(store: BlobStore): Promise<boolean> {
  for await (const _ of store.list('')) return true;
  return false;
}

async function countOf(store: BlobStore): Promise<number> {
  let count = 0;
  for await (const _ of store.list('')) count += 1;
  return count;
}

/**
 * Two moves of one blob would each take the other for its deletion, and delete the last copy.
 * @throws Problem `conflict` where another one is under way
 */
export async function moveAlone(pool: Pool, from: BlobStore, to: BlobStore): Promise<Moved> {
  const moved = await underLock(pool, MOVE_LOCK, (lost) => moveBlobs(from, to, lost));
  if (moved === 'busy') throw new Problem('conflict', 'Another `blobs move` is under way: wait until it has ended.');
  return moved;
}
