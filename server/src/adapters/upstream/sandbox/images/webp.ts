import { breather } from '../../../../kernel/turn.ts';
import { BitWriter } from '../bit-writer.ts';
import type { Picture } from './picture.ts';

/** Symbols of the first prefix code: 256 values of green, then 24 classes of lengths (RFC 9649, 6.2.3). */
const VALUES = 256;
/** Bits of a value's code, and of a length's: the first eight classes are the shorter ones. Together they use the code up. */
const VALUE_BITS = 9;
const SHORT_CLASSES = 8;
const LONGEST_RUN = 4096;

/** The picture as lossless WebP (RFC 9649): a palette, its numbers, and runs of one colour as copies of the pixel before. */
export async function webp({ width, height, palette, pixels }: Picture): Promise<Buffer> {
  const bits = new BitWriter();
  bits.lowestFirst(0x2f, 8);
  bits.lowestFirst(width - 1, 14);
  bits.lowestFirst(height - 1, 14);
  bits.lowestFirst(palette.some((value, index) => index % 4 === 3 && value < 255) ? 1 : 0, 1);
  bits.lowestFirst(0, 3);
  writePalette(bits, palette);
  // No more transforms, no colour cache, one set of codes for the whole image.
  bits.lowestFirst(0b000, 3);
  writeIndexCode(bits);
  for (let code = 0; code < 3; code += 1) writeSingleCode(bits, code === 2 ? 255 : 0);
  // Distances are always class 1: the pixel to the left (6.2.2).
  writeSingleCode(bits, 1);
  await writeIndexes(bits, pixels);
  return container(bits);
}

/** A transform of its own kind: the palette as an image of one row, each colour less the one before. */
function writePalette(bits: BitWriter, palette: Uint8Array): void {
  bits.lowestFirst(0b111, 3);
  bits.lowestFirst(255, 8);
  bits.lowestFirst(0, 1);
  writeFlatCode(bits, true);
  writeFlatCode(bits, false);
  writeFlatCode(bits, false);
  writeFlatCode(bits, false);
  writeSingleCode(bits, 0);
  for (let colour = 0; colour < 256; colour += 1) {
    const less = (channel: number): number =>
      ((palette[colour * 4 + channel] ?? 0) - (colour === 0 ? 0 : (palette[colour * 4 + channel - 4] ?? 0))) & 0xff;
    // Green, red, blue, opacity.
    for (const channel of [1, 0, 2, 3]) bits.lowestFirst(reversed(less(channel), 8), 8);
  }
}

/** How long the codes of code lengths are; they come in this order (6.2.1). */
const LENGTH_ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9];

/** Every value has eight bits; lengths, where the alphabet has them, are never used. */
function writeFlatCode(bits: BitWriter, hasLengths: boolean): void {
  bits.lowestFirst(0, 1);
  writeLengthLengths(bits, hasLengths ? { 0: 1, 8: 1 } : { 8: 1 });
  bits.lowestFirst(0, 1);
  if (!hasLengths) return;
  for (let symbol = 0; symbol < VALUES + 24; symbol += 1) bits.lowestFirst(symbol < VALUES ? 1 : 0, 1);
}

/** Nine bits for a value, five or six for a class of lengths. */
function writeIndexCode(bits: BitWriter): void {
  bits.lowestFirst(0, 1);
  writeLengthLengths(bits, { 5: 2, 6: 2, 9: 1 });
  bits.lowestFirst(0, 1);
  for (let symbol = 0; symbol < VALUES; symbol += 1) bits.lowestFirst(0b0, 1);
  for (let symbol = 0; symbol < 24; symbol += 1) bits.lowestFirst(symbol < SHORT_CLASSES ? 0b01 : 0b11, 2);
}

function writeLengthLengths(bits: BitWriter, lengths: Readonly<Record<number, number>>): void {
  bits.lowestFirst(LENGTH_ORDER.length - 4, 4);
  for (const length of LENGTH_ORDER) bits.lowestFirst(lengths[length] ?? 0, 3);
}

/** A code of one symbol, which then takes no bits. */
function writeSingleCode(bits: BitWriter, symbol: number): void {
  bits.lowestFirst(0b01, 2);
  bits.lowestFirst(1, 1);
  bits.lowestFirst(symbol, 8);
}

async function writeIndexes(bits: BitWriter, pixels: Uint8Array): Promise<void> {
  const rest = breather();
  // Codes are given out by length, then by symbol: lengths of five bits first, of six, then values of nine.
  for (let at = 0, runs = 0; at < pixels.length; runs += 1) {
    const index = pixels[at] ?? 0;
    bits.lowestFirst(reversed(256 + index, VALUE_BITS), VALUE_BITS);
    at += 1;
    let length = 0;
    while (length < LONGEST_RUN && at + length < pixels.length && pixels[at + length] === index) length += 1;
    if (length > 0) writeRun(bits, length);
    at += length;
    if (runs % 512 === 0) await rest();
  }
}

/** A length of 1 to 4096 as its class and what is left of it (6.2.2, "LZ77 backward references"). */
function writeRun(bits: BitWriter, length: number): void {
  const less = length - 1;
  const highest = less < 4 ? 0 : 31 - Math.clz32(less);
  const half = less < 4 ? 0 : (less >>> (highest - 1)) & 1;
  const code = less < 4 ? less : 2 * highest + half;
  if (code < SHORT_CLASSES) bits.lowestFirst(reversed(code, 5), 5);
  else bits.lowestFirst(reversed(2 * SHORT_CLASSES + (code - SHORT_CLASSES), 6), 6);
  if (less >= 4) bits.lowestFirst(less & ((1 << (highest - 1)) - 1), highest - 1);
}

/** Codes are written from their highest bit, everything else from its lowest. */
function reversed(value: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit += 1) result |= ((value >>> bit) & 1) << (bits - 1 - bit);
  return result;
}

function container(bits: BitWriter): Buffer {
  if (bits.heldBits > 0) bits.lowestFirst(0, 8 - bits.heldBits);
  const image = bits.bytes();
  const padded = image.length + (image.length % 2);
  const file = Buffer.alloc(20 + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(12 + padded, 4);
  file.write('WEBPVP8L', 8, 'latin1');
  file.writeUInt32LE(image.length, 16);
  file.set(image, 20);
  return file;
}
