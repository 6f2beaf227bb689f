import { hash } from 'node:crypto';
import { crc32, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../image-header.ts';
import { jpeg } from './jpeg.ts';
import { coarse, paint } from './picture.ts';
import { png } from './png.ts';
import { webp } from './webp.ts';

const sizes = fc.record({ width: fc.integer({ min: 16, max: 90 }), height: fc.integer({ min: 16, max: 90 }) });

/** Chunks of a PNG, each checked against its own sum. */
function pngChunks(bytes: Buffer): Map<string, Buffer> {
  expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const typed = bytes.subarray(at + 4, at + 8 + length);
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(typed));
    chunks.set(typed.toString('latin1', 0, 4), typed.subarray(4));
    at += 12 + length;
  }
  return chunks;
}

describe('pictures of the sandbox', () => {
  it('as PNG are exactly what was painted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), sizes, fc.boolean(), async (seed, { width, height }, isTransparent) => {
        const picture = paint({ seed, width, height, isTransparent });
        const chunks = pngChunks(await png(picture));
        expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', ...(isTransparent ? ['tRNS'] : []), 'IDAT', 'IEND']);
        const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
        const length = 1 + Math.ceil(width / 4);
        expect(rows).toHaveLength(length * height);
        for (let y = 0; y < height; y += 1) {
          expect(rows[y * length]).toBe(0);
          for (let x = 0; x < width; x += 1) {
            const packed = rows[y * length + 1 + (x >> 2)] ?? 0;
            if (((packed >> (6 - 2 * (x & 3))) & 3) !== picture.colourAt(x, y)) expect.fail(`another colour at ${x}, ${y}`);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('have the size asked for in every format, and are the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), sizes, async (seed, { width, height }) => {
        const [one, two] = [paint({ seed, width, height }), paint({ seed, width, height })];
        for (const [encode, mediaType] of [
          [png, 'image/png'],
          [webp, 'image/webp'],
          [jpeg, 'image/jpeg'],
        ] as const) {
          const bytes = await encode(one);
          expect(readImageHeader(bytes)).toEqual({ mediaType, widthPixels: width, heightPixels: height });
          expect((await encode(two)).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  // Pillow (libwebp, libjpeg) has read these: WebP as the PNG to the pixel, JPEG two steps off at most. A change of bytes has to be read again.
  it('as WebP and JPEG are the bytes that other decoders have read', () => {
    const digest = (bytes: Buffer) => hash('sha256', bytes).slice(0, 16);
    const picture = paint({ seed: 'a cat', width: 101, height: 77 });
    expect([webp(picture), webp({ ...picture, isTransparent: true }), jpeg(picture)].map(digest)).toEqual([
      '2c9f660caab2e4a9',
      '86f6ab11cb276abb',
      '1f7d5b32d9374efd',
    ]);
  });

  it('shown on the way have one colour for several squares', () => {
    const whole = paint({ seed: 'x', width: 64, height: 48 });
    const { side, colourAt } = coarse(whole, 2);
    expect(side).toBe(2 * whole.side);
    for (let y = 0; y < 48; y += 1)
      for (let x = 0; x < 64; x += 1) expect(colourAt(x, y)).toBe(whole.colourAt(x - (x % side), y - (y % side)));
  });

  it('of the largest size take a few turns of the event loop at most', async () => {
    const picture = paint({ seed: 'large', width: 3840, height: 2304 });
    for (const encode of [webp, jpeg]) {
      const times = Array.from({ length: 5 }, () => {
        const before = process.threadCpuUsage().user;
        encode(picture);
        return (process.threadCpuUsage().user - before) / 1_000;
      });
      expect(Math.min(...times)).toBeLessThan(50);
    }
  });
});
