import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3';
import { type BlobStore, type ByteRange, isBlobKey, type PutOutcome, partOf, type StoredBlob, segmentsOf } from '../port.ts';
import type { BucketSettings } from './bucket-settings.ts';
import { openClient } from './client.ts';
import { failureOf, isBehindEnd, isMissing } from './failures.ts';
import { MultipartPut } from './multipart-put.ts';

/**
 * As the files of the local disk are named, so that a copy of its folder `objects` is a bucket. Some services keep objects as files, where
 * `a` and `a/b` cannot both be; `@` is in no key, so none of these names is the beginning of another.
 */
const SUFFIX = '@blob';
const WHOLE: ByteRange = { start: 0 };

/** @throws nothing: whether the bucket can be used is for `check` to say */
export const openS3Bucket = (settings: BucketSettings): BlobStore & { close(): void } => new S3Bucket(settings);

/** Blobs as objects of a bucket. An object is replaced and appears as a whole: S3 promises that a read after a write sees it. */
class S3Bucket implements BlobStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(settings: BucketSettings) {
    this.#client = openClient(settings);
    this.#bucket = settings.bucket;
    this.#prefix = settings.prefix;
  }

  async put(key: string, content: AsyncIterable<Uint8Array>, { maxBytes }: { maxBytes: number }): Promise<PutOutcome> {
    const put = new MultipartPut(this.#client, this.#nameOf(key));
    const hash = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of content) {
        size += chunk.byteLength;
        if (size > maxBytes) return { stored: false, reason: 'too_large', maxBytes };
        hash.update(chunk);
        await this.#asked(() => put.write(chunk));
      }
      await this.#asked(() => put.complete());
      return { stored: true, size, sha256: hash.digest('hex') };
    } finally {
      await put.abort();
    }
  }

  async get(key: string, { range = WHOLE }: { range?: ByteRange } = {}): Promise<StoredBlob | undefined> {
    const name = this.#nameOf(key);
    partOf(0, range); // A senseless range is refused whether or not there is a blob.
    const Range = range.start === 0 && range.end === undefined ? undefined : `bytes=${range.start}-${range.end ?? ''}`;
    try {
      return blobOf(await this.#client.send(new GetObjectCommand({ ...name, ...(Range && { Range }) })));
    } catch (error) {
      if (isBehindEnd(error)) return this.#nothingOf(key);
      if (isMissing(error)) return undefined;
      throw failureOf(this.#bucket, error);
    }
  }

  async delete(key: string): Promise<void> {
    const name = this.#nameOf(key);
    await this.#asked(() => this.#client.send(new DeleteObjectCommand(name)));
  }

  async *list(prefix: string): AsyncGenerator<string, void, undefined> {
    const below = this.#prefix + (prefix === '' ? '' : `${segmentsOf(prefix).join('/')}/`);
    let ContinuationToken: string | undefined;
    do {
      const list = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: below, ...(ContinuationToken && { ContinuationToken }) });
      const page = await this.#asked(() => this.#client.send(list));
      for (const { Key = '' } of page.Contents ?? []) {
        const key = Key.slice(this.#prefix.length, -SUFFIX.length);
        // What else lies there is not ours.
        if (Key.endsWith(SUFFIX) && isBlobKey(key)) yield key;
      }
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  async check(): Promise<void> {
    await this.#asked(() => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })));
  }

  async sweepUnfinished(before: Date): Promise<void> {
    let markers: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (let hasMore = true; hasMore; ) {
      const list = new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#prefix, ...markers });
      const page = await this.#asked(() => this.#client.send(list));
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Initiated === undefined || Initiated >= before) continue;
        const abort = new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId });
        await this.#asked(() => this.#client.send(abort).catch(unlessMissing));
      }
      hasMore = page.IsTruncated === true;
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  close(): void {
    this.#client.destroy();
  }

  /** A range behind the end: how long the blob is. */
  async #nothingOf(key: string): Promise<StoredBlob | undefined> {
    try {
      const { ContentLength: size = 0 } = await this.#client.send(new HeadObjectCommand(this.#nameOf(key)));
      return { size, length: 0, stream: Readable.from([]) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw failureOf(this.#bucket, error);
    }
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw failureOf(this.#bucket, error);
    }
  }

  #nameOf(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${segmentsOf(key).join('/')}${SUFFIX}` };
  }
}

function blobOf({ Body, ContentLength: length = 0, ContentRange }: GetObjectCommandOutput): StoredBlob {
  if (!(Body instanceof Readable)) throw new Error('An object came without a stream of its content');
  const size = ContentRange === undefined ? length : Number(ContentRange.split('/')[1]);
  if (!Number.isSafeInteger(size)) throw new Error(`An object has no length: ${ContentRange}`);
  return { size, length, stream: Body };
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}
