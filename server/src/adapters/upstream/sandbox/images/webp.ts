import { type Bits, lowestFirst, packedLowestFirst } from '../bits.ts';
import { COLOURS, type Picture } from './picture.ts';

/**
 * The picture as lossless WebP (RFC 9649): a palette, and its numbers, four pixels of a square packed into one value. Its head is a whole
 * number of bytes, and each value has two bits.
 */
export function webp(picture: Picture): Buffer {
  const { width, height, isTransparent } = picture;
  const size = lowestFirst(width - 1, 14) + lowestFirst(height - 1, 14) + lowestFirst(isTransparent ? 1 : 0, 1) + lowestFirst(0, 3);
  // No more transforms, no colour cache, one set of codes for the whole image.
  const head = packedLowestFirst(lowestFirst(0x2f, 8) + size + palette(isTransparent) + lowestFirst(0, 3) + CODES);
  const image = Buffer.concat([head, valuesOf(picture)]);
  const padded = image.length + (image.length % 2);
  const file = Buffer.alloc(20 + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(12 + padded, 4);
  file.write('WEBPVP8L', 8, 'latin1');
  file.writeUInt32LE(image.length, 16);
  file.set(image, 20);
  return file;
}

/** A transform of its own kind: the colours as an image of one row, each less the one before. A channel has two steps, and a bit for each. */
function palette(isTransparent: boolean): Bits {
  const opacities = isTransparent ? [0, 255, 255, 255] : [255, 255, 255, 255];
  // Green, red, blue, opacity.
  const channels = [...[1, 0, 2].map((channel) => COLOURS.map((colour) => colour[channel] ?? 0)), opacities];
  const steps = channels.map((values) => values.map((value, index) => (value - (values[index - 1] ?? 0)) & 0xff));
  const codes = steps.map((values) => twoValues(Math.min(...values), Math.max(...values)));
  const pixels = COLOURS.flatMap((_, index) => steps.map((values) => (values[index] === Math.max(...values) ? '1' : '0')));
  return [lowestFirst(0b111, 3), lowestFirst(COLOURS.length - 1, 8), '0', ...codes, ONE_VALUE, ...pixels].join('');
}

/** A code of two values, the lower one first (6.2.1.1). */
const twoValues = (lower: number, higher: number): Bits => `111${lowestFirst(lower, 8)}${lowestFirst(higher, 8)}`;

/** A code of one value, which then takes no bits. */
const ONE_VALUE = '1000';

/** How long a code is for no value, for 11 and up to 138 in a row, and for a code of two bits, in the order of 6.2.1. */
const LENGTH_LENGTHS = [0, 1, 0, 0, 1];
const [TWO_BITS, NOTHING] = ['0', '1'];
const noneFor = (values: number): Bits => NOTHING + lowestFirst(values - 11, 7);

/** Two bits for each of the values that are four times the same colour, 0x00, 0x55, 0xaa and 0xff, no length of a copy, nothing else. */
const CODES = [
  ...['0', lowestFirst(LENGTH_LENGTHS.length - 4, 4), ...LENGTH_LENGTHS.map((length) => lowestFirst(length, 3)), '0'],
  ...[TWO_BITS, noneFor(84), TWO_BITS, noneFor(84), TWO_BITS, noneFor(84), TWO_BITS, noneFor(24)],
  ...[ONE_VALUE, ONE_VALUE, ONE_VALUE, ONE_VALUE],
].join('');

/** Codes are written from their highest bit, everything else from its lowest. */
const REVERSED = [0b00, 0b10, 0b01, 0b11] as const;

function valuesOf({ width, height, side, colourAt }: Picture): Buffer {
  const columns = Math.ceil(width / 4);
  const bytes = Buffer.alloc(Math.ceil((columns * height) / 4));
  let row: number[] = [];
  for (let y = 0; y < height; y += 1) {
    if (y % side === 0) row = Array.from({ length: columns }, (_, column) => REVERSED[colourAt(column * 4, y)] ?? 0);
    for (const [column, code] of row.entries()) {
      const value = y * columns + column;
      bytes[value >> 2] = (bytes[value >> 2] ?? 0) | (code << ((value & 3) * 2));
    }
  }
  return bytes;
}
