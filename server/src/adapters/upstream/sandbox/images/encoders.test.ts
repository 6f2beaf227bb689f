import { hash } from 'node:crypto';
import { crc32, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readImageHeader } from '../image-header.ts';
import { jpeg } from './jpeg.ts';
import { coarse, type Picture, paint } from './picture.ts';
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
        const picture = await paint({ seed, width, height, isTransparent });
        const chunks = pngChunks(await png(picture));
        expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', ...(isTransparent ? ['tRNS'] : []), 'IDAT', 'IEND']);
        const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
        expect(rows).toHaveLength((width + 1) * height);
        for (let y = 0; y < height; y += 1) {
          expect(rows[y * (width + 1)]).toBe(0);
          expect(
            rows.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)).equals(picture.pixels.subarray(y * width, (y + 1) * width)),
          ).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('have the size asked for in every format, and are the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), sizes, async (seed, { width, height }) => {
        const [one, two] = [await paint({ seed, width, height }), await paint({ seed, width, height })];
        for (const [encode, mediaType] of [
          [png, 'image/png'],
          [webp, 'image/webp'],
          [(picture: Picture) => jpeg(picture, 85), 'image/jpeg'],
        ] as const) {
          const bytes = await encode(one);
          expect(readImageHeader(bytes)).toEqual({ mediaType, widthPixels: width, heightPixels: height });
          expect((await encode(two)).equals(bytes)).toBe(true);
        }
      }),
      { numRuns: 20 },
    );
  });

  // libwebp's and libjpeg's relatives in ffmpeg read these back: WebP to the pixel, JPEG at 47 dB. A change of bytes has to be looked at again.
  it('as WebP and JPEG are the bytes that other decoders have read', async () => {
    const picture = await paint({ seed: 'a cat', width: 101, height: 77 });
    expect(hash('sha256', await webp(picture)).slice(0, 16)).toBe('539881376e382c27');
    expect(hash('sha256', await jpeg(picture, 85)).slice(0, 16)).toBe('c4f09b5bcf1bdd8b');
  });

  it('in blocks have one colour a block', async () => {
    const { width, pixels } = coarse(await paint({ seed: 'x', width: 64, height: 48 }), 16);
    for (let place = 0; place < pixels.length; place += 1) {
      const [x, y] = [place % width, Math.floor(place / width)];
      expect(pixels[place]).toBe(pixels[(y & ~15) * width + (x & ~15)]);
    }
  });

  it('let the event loop turn while they are made', async () => {
    const picture = await paint({ seed: 'warm', width: 512, height: 512 });
    for (const encode of [png, webp, (warm: Picture) => jpeg(warm, 85)]) await encode(picture);
    const turns: number[] = [];
    let last = process.threadCpuUsage().user;
    const turn = () => {
      const now = process.threadCpuUsage().user;
      turns.push((now - last) / 1_000);
      last = now;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const large = await paint({ seed: 'large', width: 1536, height: 1024 });
    for (const encode of [png, webp, (made: Picture) => jpeg(made, 85)]) await encode(large);
    clearImmediate(next);
    // The work itself takes eight milliseconds at a time; its time on the processor counts, whatever else the machine does.
    turns.sort((one, other) => one - other);
    expect(turns.length).toBeGreaterThan(10);
    expect(turns[Math.floor(turns.length * 0.9)]).toBeLessThan(30);
  });
});
