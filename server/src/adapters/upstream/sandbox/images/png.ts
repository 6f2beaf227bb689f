import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { COLOURS, type Picture } from './picture.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const deflated = promisify(deflate);

/** The picture as PNG (ISO/IEC 15948): two bits a pixel, compressed off the event loop. */
export async function png(picture: Picture): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  // Two bits a pixel, colours from the palette; deflate, no interlacing.
  header.set([2, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(COLOURS.flat())),
    ...(picture.isTransparent ? [chunk('tRNS', Buffer.from([0]))] : []),
    chunk('IDAT', await deflated(rowsOf(picture), { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Each begins with the number of its filter: 0, none. Four pixels a byte, which are of one square. */
function rowsOf({ width, height, side, colourAt }: Picture): Buffer {
  const length = 1 + Math.ceil(width / 4);
  const rows = Buffer.alloc(length * height);
  for (let y = 0; y < height; y += 1) {
    if (y % side > 0) rows.copyWithin(y * length, (y - 1) * length, y * length);
    else for (let at = 1; at < length; at += 1) rows[y * length + at] = 0b01010101 * colourAt((at - 1) * 4, y);
  }
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
