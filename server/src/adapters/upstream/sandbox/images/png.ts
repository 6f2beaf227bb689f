import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Picture } from './picture.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const deflated = promisify(deflate);

/** The picture as PNG (ISO/IEC 15948): with its palette, eight bits a pixel, compressed off the event loop. */
export async function png({ width, height, palette, pixels }: Picture): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a pixel, colours from the palette; deflate, no interlacing.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.filter((_, index) => index % 4 !== 3));
  const opacities = Buffer.from(palette.filter((_, index) => index % 4 === 3));
  const isOpaque = opacities.subarray(0, 128).every((opacity) => opacity === 255);
  // Every row begins with the number of its filter: 0, none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    ...(isOpaque ? [] : [chunk('tRNS', opacities)]),
    chunk('IDAT', await deflated(rows, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
