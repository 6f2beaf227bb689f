import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { UpstreamFile } from '../port.ts';
import { endsOf, headOf } from './files.ts';

const KIB = 1024;
/** A file of pieces of 64 KiB, as blobs are read. */
const fileOf = (pieces: number): UpstreamFile => ({
  ...{ field: 'image', filename: 'a.png', contentType: 'image/png', bytes: pieces * 64 * KIB },
  open: () =>
    Readable.from(
      (async function* () {
        for (let piece = 0; piece < pieces; piece += 1) yield Buffer.alloc(64 * KIB, piece);
      })(),
      { objectMode: false },
    ),
});

test.each([1, 3, 4, 5, 48])('the beginning of a file of %i pieces is read, and the rest left', async (pieces) => {
  const head = await headOf(fileOf(pieces));
  expect(head.length).toBe(Math.min(pieces * 64, 256) * KIB);
  expect(head.at(-1)).toBe(Math.min(pieces, 4) - 1);
});

test('both ends of a file are kept', async () => {
  const { head, tail } = await endsOf(fileOf(48));
  expect([head.length, tail.length, tail[0]]).toEqual([256 * KIB, 64 * KIB, 47]);
});
