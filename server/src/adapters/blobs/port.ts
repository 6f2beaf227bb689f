import type { Readable } from 'node:stream';

/**
 * Where content of any size is kept under a key. A blob is whole or not there at all, also after a crash, and never changes in place:
 * it is replaced or deleted.
 *
 * A key is made by us, `org/<id>/<uuidv7>`, never of a name that a client chose. It is one or more segments of `[A-Za-z0-9._-]` joined by
 * slashes, none beginning with a dot. Keys that differ only in the case of letters are not to be used side by side: some file systems
 * take them for one. Every method refuses any other key with `InvalidBlobKey`.
 */
export interface BlobStore {
  /**
   * Stores what `content` yields, a chunk at a time, in place of what the key held before. When it resolves, the blob survives a loss of
   * power; until then readers meet the old content or nothing. Of several puts of one key the last to end wins.
   *
   * Once read from, `content` is read to its end or closed. When it fails, so does the put, with the same error; then, and when it is
   * refused, what the key held before is still there and nothing else is.
   */
  put(key: string, content: AsyncIterable<Uint8Array>, limits: { maxBytes: number }): Promise<PutOutcome>;

  /**
   * The whole content as it is now, or a part of it; later puts and deletes do not reach into it. Undefined when the key holds nothing.
   * The stream holds a file or a connection open: read it to its end or destroy it.
   */
  get(key: string, options?: { range?: ByteRange }): Promise<StoredBlob | undefined>;

  /** Deletes the blob permanently. There may be none. */
  delete(key: string): Promise<void>;

  /**
   * The keys below a prefix of whole segments (`org/1` has `org/1/x` below it, but neither `org/12/x` nor `org/1`), all keys for `''`, in no
   * particular order. What is put or deleted meanwhile may be among them or not.
   */
  list(prefix: string): AsyncIterable<string>;

  /** @throws when nothing can be stored at present */
  check(): Promise<void>;

  /** Deletes what puts that began before then and were killed have left behind. No put may run for so long. */
  sweepUnfinished(before: Date): Promise<void>;
}

/** `sha256` is of the whole content, in hex; `size` in bytes. */
export type PutOutcome =
  | { readonly stored: true; readonly size: number; readonly sha256: string }
  | { readonly stored: false; readonly reason: 'too_large'; readonly maxBytes: number };

/** As in HTTP and unlike `slice`, `end` is the last byte that is wanted; without it, everything from `start` on. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface StoredBlob {
  /** Bytes of the whole blob, also if a part was asked for. */
  readonly size: number;
  /** Bytes that the stream yields; 0 when the range begins behind the end, which HTTP answers with 416. */
  readonly length: number;
  readonly stream: Readable;
}

/** A key that no code of ours should have made. */
export class InvalidBlobKey extends Error {
  constructor(key: string) {
    super(`Not a blob key: ${JSON.stringify(key.slice(0, MAX_KEY_LENGTH))}`);
    this.name = 'InvalidBlobKey';
  }
}

const MAX_KEY_LENGTH = 512;
/** A leading dot would admit `..` and hidden files; the length leaves room for what a driver appends to a file name. */
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

export const isBlobKey = (key: string): boolean => key.length <= MAX_KEY_LENGTH && key.split('/').every((part) => SEGMENT.test(part));

/**
 * The parts of a key, for the drivers; at least one.
 * @throws InvalidBlobKey
 */
export function segmentsOf(key: string): string[] {
  if (!isBlobKey(key)) throw new InvalidBlobKey(key);
  return key.split('/');
}

/**
 * The part of a blob of `size` bytes that a range covers, for the drivers; `length` 0 when it covers none.
 * @throws RangeError for a range that makes no sense for any blob
 */
export function partOf(size: number, { start, end }: ByteRange): { start: number; length: number } {
  const isSound = Number.isSafeInteger(start) && start >= 0 && (end === undefined || (Number.isSafeInteger(end) && end >= start));
  if (!isSound) throw new RangeError(`Not a range of bytes: ${start}-${end ?? ''}`);
  return { start, length: Math.max(0, Math.min(end ?? Number.POSITIVE_INFINITY, size - 1) - start + 1) };
}
