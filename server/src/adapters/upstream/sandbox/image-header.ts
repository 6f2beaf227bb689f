/** What the first bytes of an image say about it. */
export interface ImageHeader {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly widthPixels: number;
  readonly heightPixels: number;
}

const IHDR = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
/** JPEG markers that start a frame and so carry its size: SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrameMarker = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Media type and size of a PNG, JPEG, GIF or WebP image; undefined where the bytes are none of these or break off too early. */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  const header = png(bytes) ?? gif(bytes) ?? webp(bytes) ?? jpeg(bytes);
  return header && header.widthPixels > 0 && header.heightPixels > 0 ? header : undefined;
}

function png(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 24 || !bytes.subarray(0, 16).equals(IHDR)) return undefined;
  return { mediaType: 'image/png', widthPixels: bytes.readUInt32BE(16), heightPixels: bytes.readUInt32BE(20) };
}

function gif(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined;
  return { mediaType: 'image/gif', widthPixels: bytes.readUInt16LE(6), heightPixels: bytes.readUInt16LE(8) };
}

/** RFC 9649: lossy (`VP8 `), lossless (`VP8L`) and extended (`VP8X`) each keep the size elsewhere. */
function webp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  const size = (widthPixels: number, heightPixels: number): ImageHeader => ({ mediaType: 'image/webp', widthPixels, heightPixels });
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return bytes.readUIntBE(23, 3) === 0x9d012a ? size(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff) : undefined;
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return bytes[20] === 0x2f ? size((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1) : undefined;
    }
    case 'VP8X':
      return size(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

function jpeg(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrameMarker(marker))
      return { mediaType: 'image/jpeg', widthPixels: bytes.readUInt16BE(at + 7), heightPixels: bytes.readUInt16BE(at + 5) };
    // A fill byte, or a marker that stands alone, has no length after it.
    if (marker === 0xff) at += 1;
    else at += marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8) ? 2 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
