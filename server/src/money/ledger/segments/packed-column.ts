import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** Shorter ones would not become smaller. */
const COMPRESSED_FROM = 200;
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A list of names. */
export interface NameTexts {
  readonly count: number;
  /** Where each name begins in the bytes, and at the end where the last one ends. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** The names of a column: those of its rows by their places in a list. */
export interface Names extends NameTexts {
  readonly codes: Uint32Array;
}

/** What a number is written with. */
const WIDTHS = [0, 1, 2, 4, 8] as const;
type Width = (typeof WIDTHS)[number];

/** Whole numbers, as small as they are: what they have above the smallest. @returns null where all are 0 */
export function packNumbers(values: Float64Array): Buffer | null {
  let [least, most] = [values[0] ?? 0, values[0] ?? 0];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (least === 0 && most === 0) return null;
  const width = widthOf(most - least);
  const head = Buffer.alloc(9);
  head[0] = width;
  head.writeDoubleLE(least, 1);
  return Buffer.concat([head, squeezed(narrowed(values, least, width))]);
}

export function unpackNumbers(column: Uint8Array | null, rows: number): Float64Array {
  const values = new Float64Array(rows);
  if (column === null) return values;
  const [width, least] = [column[0] as Width, leastOf(column)];
  if (width === 0) return values.fill(least);
  const narrow = widened(unsqueezed(column.subarray(9)), width);
  if (width === 8) values.set(narrow);
  else for (let row = 0; row < rows; row += 1) values[row] = least + (narrow[row] ?? 0);
  return values;
}

/** Whether every number is above 0, by what the column says of its smallest. */
export const isPositive = (column: Uint8Array | null): boolean => column !== null && leastOf(column) > 0;

const leastOf = (column: Uint8Array): number => new DataView(column.buffer, column.byteOffset).getFloat64(1, true);

/** @returns null where all are the empty name */
export function packNames(codes: Uint32Array, { count, offsets, bytes }: NameTexts): Buffer | null {
  if (count === 1 && offsets[1] === 0) return null;
  const lengths = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) lengths[at] = (offsets[at + 1] ?? 0) - (offsets[at] ?? 0);
  const [packedLengths, text] = [squeezed(new Uint8Array(lengths.buffer)), squeezed(bytes)];
  const width = widthOf(count - 1);
  const head = Buffer.alloc(13);
  head[0] = width;
  head.writeUInt32LE(count, 1);
  head.writeUInt32LE(packedLengths.length, 5);
  head.writeUInt32LE(text.length, 9);
  return Buffer.concat([head, packedLengths, text, squeezed(narrowed(codes, 0, width))]);
}

export function unpackNames(column: Uint8Array | null, rows: number): Names {
  if (column === null) return { codes: new Uint32Array(rows), count: 1, offsets: new Uint32Array(2), bytes: new Uint8Array() };
  const head = new DataView(column.buffer, column.byteOffset);
  const [width, count] = [column[0] as Width, head.getUint32(1, true)];
  const text = 13 + head.getUint32(5, true);
  const places = text + head.getUint32(9, true);
  const lengths = widened(unsqueezed(column.subarray(13, text)), 4);
  const offsets = new Uint32Array(count + 1);
  for (let at = 0; at < count; at += 1) offsets[at + 1] = (offsets[at] ?? 0) + (lengths[at] ?? 0);
  const codes = width === 0 ? new Uint32Array(rows) : Uint32Array.from(widened(unsqueezed(column.subarray(places)), width));
  return { codes, count, offsets, bytes: unsqueezed(column.subarray(text, places)) };
}

const widthOf = (most: number): Width => (most === 0 ? 0 : most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : most < 2 ** 32 ? 4 : 8);

function narrowed(values: Float64Array | Uint32Array, least: number, width: Width): Uint8Array {
  if (width === 0) return new Uint8Array();
  // The difference of two numbers that are exact may not be.
  if (width === 8) return new Uint8Array(Float64Array.from(values).buffer);
  const narrow = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[width](values.length);
  for (let row = 0; row < values.length; row += 1) narrow[row] = (values[row] ?? 0) - least;
  return new Uint8Array(narrow.buffer);
}

function widened(bytes: Uint8Array, width: Exclude<Width, 0>): Uint8Array | Uint16Array | Uint32Array | Float64Array {
  if (width === 1) return bytes;
  const { buffer, byteOffset, length } = bytes.byteOffset % width === 0 ? bytes : Uint8Array.from(bytes);
  if (width === 2) return new Uint16Array(buffer, byteOffset, length / width);
  return width === 4 ? new Uint32Array(buffer, byteOffset, length / width) : new Float64Array(buffer, byteOffset, length / width);
}

function squeezed(bytes: Uint8Array): Buffer {
  const isCompressed = bytes.length >= COMPRESSED_FROM;
  return Buffer.concat([Buffer.of(isCompressed ? 1 : 0), isCompressed ? zstdCompressSync(bytes, FASTEST) : bytes]);
}

const unsqueezed = (bytes: Uint8Array): Uint8Array => (bytes[0] === 1 ? zstdDecompressSync(bytes.subarray(1)) : bytes.subarray(1));
