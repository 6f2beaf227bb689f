import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from './image-header.ts';

const base64 = (text: string) => Buffer.from(text, 'base64');

const riff = (chunk: string, payload: number[]) =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(chunk), Buffer.alloc(4), Buffer.from(payload), Buffer.alloc(20)]);

const jpeg = (...segments: number[][]) => Buffer.from([0xff, 0xd8, ...segments.flat()]);
const FRAME = [0xff, 0xc2, 0, 17, 8, 0x01, 0x02, 0x03, 0x04, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

const IMAGES: Record<string, [Buffer, string, number, number]> = {
  PNG: [base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), 'image/png', 1, 1],
  GIF: [base64('R0lGODlhAgADAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='), 'image/gif', 2, 3],
  'lossy WebP': [riff('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 0x20, 0x00, 0x10, 0x00]), 'image/webp', 32, 16],
  'lossless WebP': [riff('VP8L', [0x2f, 0x04, 0xc0, 0x00, 0x00]), 'image/webp', 5, 4],
  'extended WebP': [riff('VP8X', [0, 0, 0, 0, 0xff, 0x01, 0x00, 0x0f, 0x00, 0x00]), 'image/webp', 512, 16],
  JPEG: [jpeg(FRAME), 'image/jpeg', 0x0304, 0x0102],
  'JPEG behind metadata, a table and fill bytes': [
    jpeg([0xff, 0xe1, 0, 6, 0xff, 0xc0, 1, 1], [0xff, 0xc4, 0, 3, 9], [0xff], FRAME),
    'image/jpeg',
    0x0304,
    0x0102,
  ],
};

describe('the header of an image', () => {
  it.each(Object.entries(IMAGES))('gives the size in pixels of a %s', (_, [bytes, mediaType, widthPixels, heightPixels]) => {
    expect(readImageHeader(bytes)).toEqual({ mediaType, widthPixels, heightPixels });
  });

  it('is not there in anything else, and breaking off anywhere is no failure', () => {
    expect(readImageHeader(Buffer.from('plain text, long enough to hold a header'))).toBeUndefined();
    for (const [bytes] of Object.values(IMAGES)) {
      for (let length = 0; length < bytes.length; length += 1) readImageHeader(bytes.subarray(0, length));
    }
  });

  it('is read from any bytes without failing or looping', () => {
    const beginnings = Object.values(IMAGES).map(([bytes]) => bytes.subarray(0, 16));
    const bytes = fc
      .tuple(fc.constantFrom(...beginnings), fc.uint8Array({ maxLength: 80 }))
      .map(([head, tail]) => Buffer.concat([head, tail]));
    fc.assert(fc.property(bytes, (any) => void readImageHeader(any)));
  });
});
