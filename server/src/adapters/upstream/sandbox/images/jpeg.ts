import { COLOURS, type Picture } from './picture.ts';

const BLOCK = 8;
/** A block of one colour is eight times its value, in steps of this: no two values differ by more than 127 steps. */
const STEP = 16;
/** The end of a block, the one symbol of the table for all that is no mean. */
const END_OF_BLOCK = 0x00;

/** Luma and the two chromas of every colour, centred on 0 (JFIF), in steps. */
const LEVELS = COLOURS.map(([red, green, blue]) =>
  [
    0.299 * red + 0.587 * green + 0.114 * blue - 128,
    -0.168736 * red - 0.331264 * green + 0.5 * blue,
    0.5 * red - 0.418688 * green - 0.081312 * blue,
  ].map((value) => Math.round((value * BLOCK) / STEP)),
);

/**
 * The picture as baseline JPEG (ITU-T T.81) without subsampling. A file brings its own Huffman tables, and in ours every block has two bytes:
 * its mean less the one before, and its end.
 */
export function jpeg({ width, height, colourAt }: Picture): Buffer {
  const blocks = Buffer.alloc(Math.ceil(width / BLOCK) * Math.ceil(height / BLOCK) * 6);
  let before = [0, 0, 0];
  let at = 0;
  for (let top = 0; top < height; top += BLOCK) {
    for (let left = 0; left < width; left += BLOCK) {
      const levels = LEVELS[colourAt(left, top)] ?? before;
      for (const [plane, level] of levels.entries()) {
        blocks[at] = meanByte(level - (before[plane] ?? 0));
        blocks[at + 1] = END_OF_BLOCK;
        at += 2;
      }
      before = levels;
    }
  }
  return Buffer.concat([head(width, height), blocks, Buffer.from('ffd9', 'hex')]);
}

/** The number of its bits as so many ones and a zero from the right end of the table, then the bits (F.1.2.1): a byte, and never all ones. */
function meanByte(difference: number): number {
  const size = 32 - Math.clz32(Math.abs(difference));
  const bits = difference < 0 ? difference + (1 << size) - 1 : difference;
  return (0xff & (0xff << (size + 1))) | bits;
}

function head(width: number, height: number): Buffer {
  const segment = (marker: number, ...data: number[]) => [0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff, ...data];
  const component = (id: number) => [id, 0x11, 0];
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xe0, ...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0),
    ...segment(0xdb, 0, ...new Uint8Array(64).fill(STEP)),
    ...segment(0xc0, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 3, ...component(1), ...component(2), ...component(3)),
    // Seven bits with a code of one, and so on to none with a code of eight; the end of a block has eight too.
    ...segment(0xc4, 0x00, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 6, 5, 4, 3, 2, 1, 0),
    ...segment(0xc4, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    ...segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0),
  ]);
}
