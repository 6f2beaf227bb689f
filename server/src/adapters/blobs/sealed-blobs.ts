import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type BlobStore, type ByteRange, type PutOutcome, partOf, type StoredBlob, segmentsOf } from './port.ts';

/** What a sealed blob begins with; a blob without it was written before blobs were sealed, and is read as it is. */
const MAGIC = Buffer.from('tallygate blob 1');
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.length + SALT_BYTES;
const PIECE_BYTES = 65_536;
const TAG_BYTES = 16;
const SEALED_PIECE_BYTES = PIECE_BYTES + TAG_BYTES;
const NONCE_BYTES = 12;
const HEADER: ByteRange = { start: 0, end: HEADER_BYTES - 1 };

/** The key that a blob is sealed with: 32 bytes. */
type KeyOf = (blobKey: string) => Buffer | Promise<Buffer>;

/**
 * Seals blobs before they are stored, in pieces of 64 KiB, each AES-256-GCM, so that a part is read without the whole. The key of a blob is
 * derived of `keyOf`, a salt of its own and its key: it opens under no other. The nonce of a piece is its number and whether it is the last:
 * none can be left out, moved or cut off unseen (STREAM, Hoang et al. 2015).
 */
export function sealedBlobs(store: BlobStore, keyOf: KeyOf): BlobStore {
  return {
    async put(key, content, { maxBytes }) {
      segmentsOf(key);
      const salt = randomBytes(SALT_BYTES);
      const sealing = new Sealing(deriveKey(await keyOf(key), salt, key), maxBytes);
      try {
        await store.put(key, sealing.pieces(Buffer.concat([MAGIC, salt]), content), { maxBytes: Number.MAX_SAFE_INTEGER });
        return sealing.outcome();
      } catch (error) {
        if (error instanceof TooLarge) return { stored: false, reason: 'too_large', maxBytes };
        throw error;
      }
    },

    async get(key, options) {
      const range = options?.range ?? { start: 0 };
      partOf(0, range);
      const head = await store.get(key, { range: HEADER });
      if (!head) return undefined;
      const header = Buffer.concat(await head.stream.toArray());
      if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return store.get(key, { range });
      const { size, count } = plainOf(head.size);
      const { start, length } = partOf(size, range);
      if (length === 0) return { size, length, stream: Readable.from([]) };
      const first = Math.floor(start / PIECE_BYTES);
      const last = Math.floor((start + length - 1) / PIECE_BYTES);
      const sealed = await store.get(key, {
        range: { start: HEADER_BYTES + first * SEALED_PIECE_BYTES, end: HEADER_BYTES + (last + 1) * SEALED_PIECE_BYTES - 1 },
      });
      if (!sealed) return undefined;
      const opening = { key: deriveKey(await keyOf(key), header.subarray(MAGIC.length), key), first, count };
      const stream = Readable.from(part(opened(sealed, opening), start - first * PIECE_BYTES, length), { objectMode: false });
      // One that is destroyed before it is read from has begun nothing that would let the file go.
      stream.once('close', () => sealed.stream.destroy());
      return { size, length, stream };
    },

    delete: (key) => store.delete(key),
    list: (prefix) => store.list(prefix),
    check: () => store.check(),
    sweepUnfinished: (before) => store.sweepUnfinished(before),
  };
}

class TooLarge extends Error {}

const deriveKey = (key: Buffer, salt: Buffer, blobKey: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, `tallygate blob ${blobKey}`, 32));

/** Of a sealed blob of that size: how many bytes it holds, in how many pieces. An empty blob is one empty piece. */
function plainOf(sealedSize: number): { readonly size: number; readonly count: number } {
  const body = sealedSize - HEADER_BYTES;
  const count = Math.max(1, Math.ceil(body / SEALED_PIECE_BYTES));
  return { size: Math.max(0, body - count * TAG_BYTES), count };
}

function nonceOf(piece: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(piece, 5, 6);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

/** One blob on its way into the store. */
class Sealing {
  readonly #key: Buffer;
  readonly #maxBytes: number;
  readonly #hash = createHash('sha256');
  #size = 0;

  constructor(key: Buffer, maxBytes: number) {
    this.#key = key;
    this.#maxBytes = maxBytes;
  }

  outcome(): PutOutcome {
    return { stored: true, size: this.#size, sha256: this.#hash.digest('hex') };
  }

  async *pieces(header: Buffer, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    yield header;
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let filled = 0;
    let count = 0;
    for await (const chunk of content) {
      this.#size += chunk.byteLength;
      if (this.#size > this.#maxBytes) throw new TooLarge();
      this.#hash.update(chunk);
      for (let at = 0; at < chunk.byteLength; ) {
        // A full piece waits until it is known that another comes: the last one is marked.
        if (filled === PIECE_BYTES) {
          yield this.#seal(piece, count, false);
          count += 1;
          filled = 0;
        }
        const taken = Math.min(PIECE_BYTES - filled, chunk.byteLength - at);
        piece.set(chunk.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
      }
    }
    yield this.#seal(piece.subarray(0, filled), count, true);
  }

  #seal(plain: Buffer, piece: number, isLast: boolean): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(piece, isLast), { authTagLength: TAG_BYTES });
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }
}

interface Opening {
  readonly key: Buffer;
  /** Number of the first piece that is read. */
  readonly first: number;
  /** Pieces of the whole blob. */
  readonly count: number;
}

/** @throws for what was changed, moved or cut off */
async function* opened({ stream }: StoredBlob, { key, first, count }: Opening): AsyncGenerator<Buffer, void, undefined> {
  let number = first;
  const open = (sealed: Buffer): Buffer => {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, number === count - 1), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    number += 1;
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  };
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < SEALED_PIECE_BYTES) continue;
    let all = Buffer.concat(waiting);
    for (; all.length >= SEALED_PIECE_BYTES; all = all.subarray(SEALED_PIECE_BYTES)) yield open(all.subarray(0, SEALED_PIECE_BYTES));
    waiting = [all];
    bytes = all.length;
  }
  if (bytes > 0) yield open(Buffer.concat(waiting));
}

/** So many bytes, after some that are passed over. */
async function* part(pieces: AsyncIterable<Buffer>, skipped: number, length: number): AsyncGenerator<Buffer, void, undefined> {
  let [before, left] = [skipped, length];
  for await (const piece of pieces) {
    const wanted = piece.subarray(before, before + left);
    before = Math.max(0, before - piece.length);
    left -= wanted.length;
    if (wanted.length > 0) yield wanted;
  }
  if (left > 0) throw new Error('A blob is shorter than it was when it was sealed');
}
