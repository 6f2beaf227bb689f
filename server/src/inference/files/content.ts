import { Readable } from 'node:stream';
import type { BlobStore, ByteRange, StoredBlob } from '../../adapters/blobs/port.ts';
import { Problem } from '../../kernel/problem.ts';

/** A piece of a file: one blob, whole. */
export interface Segment {
  readonly key: string;
  readonly bytes: number;
}

interface Piece {
  readonly key: string;
  readonly range: ByteRange;
}

/**
 * The bytes of a file as one stream, or those from `start` to `end`, both inclusive and inside the file. The first piece is opened before
 * this resolves, so that a store that is down is known before an answer begins. Read the stream to its end or destroy it.
 *
 * @throws Problem `storage_unavailable`
 */
export async function readSegments(blobs: BlobStore, segments: readonly Segment[], range: Required<ByteRange>): Promise<Readable> {
  const [first, ...rest] = piecesOf(segments, range);
  if (!first) return Readable.from([]);
  const opened = await openPiece(blobs, first);
  const whole = Readable.from(inOrder(blobs, opened, rest), { objectMode: false });
  // A generator that was never begun has no `finally` that would close the first piece.
  whole.once('close', () => opened.stream.destroy());
  return whole;
}

async function* inOrder(blobs: BlobStore, opened: StoredBlob, rest: readonly Piece[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* opened.stream;
  for (const piece of rest) yield* (await openPiece(blobs, piece)).stream;
}

async function openPiece(blobs: BlobStore, { key, range }: Piece): Promise<StoredBlob> {
  const blob = await blobs.get(key, { range }).catch((cause: unknown) => {
    throw new Problem('storage_unavailable', 'Files cannot be read at the moment: repeat the request later.', {
      retryAfterSeconds: 30,
      cause,
    });
  });
  if (!blob) throw new Error(`The blob ${key} of a file is missing`);
  return blob;
}

function piecesOf(segments: readonly Segment[], { start, end }: Required<ByteRange>): Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  for (const { key, bytes } of segments) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, bytes - 1);
    if (from <= to) pieces.push({ key, range: { start: from, end: to } });
    offset += bytes;
  }
  return pieces;
}
