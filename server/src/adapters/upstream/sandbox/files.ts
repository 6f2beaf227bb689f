import type { UpstreamFile } from '../port.ts';

/** The beginning and the end of a file; a short one is whole in `head`, and `tail` is its last part. */
export interface FileEnds {
  readonly head: Buffer;
  readonly tail: Buffer;
}

const HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;

/** Reads a file through, and keeps its ends: what a format says of itself stands there. */
export async function endsOf(file: UpstreamFile): Promise<FileEnds> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of file.open()) {
    const bytes = Buffer.from(chunk);
    if (keptBytes < HEAD_BYTES) kept.push(bytes.subarray(0, HEAD_BYTES - keptBytes));
    keptBytes += bytes.length;
    tail = Buffer.concat([tail, bytes]);
    if (tail.length > TAIL_BYTES) tail = Buffer.from(tail.subarray(-TAIL_BYTES));
  }
  return { head: Buffer.concat(kept), tail };
}

/** The beginning of a file; no more of it is read. */
export async function headOf(file: UpstreamFile): Promise<Buffer> {
  const stream = file.open();
  // A stream that is left in the middle tells of an AbortError before it closes.
  const closed = new Promise<void>((resolve) => stream.on('error', () => {}).once('close', resolve));
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    kept.push(Buffer.from(chunk));
    bytes += kept.at(-1)?.length ?? 0;
    if (bytes >= HEAD_BYTES) break;
  }
  await closed;
  return Buffer.concat(kept).subarray(0, HEAD_BYTES);
}
