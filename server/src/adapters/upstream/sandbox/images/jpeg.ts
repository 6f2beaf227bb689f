import { breather } from '../../../../kernel/turn.ts';
import { BitWriter } from '../bit-writer.ts';
import type { Picture } from './picture.ts';

const BLOCK = 8;
const END_OF_BLOCK = 0x00;
const SIXTEEN_ZEROS = 0xf0;

/** Symbols of the two Huffman tables, which are ours: a file brings its own. Sizes of DC in four bits each; of AC the end in one, others in nine. */
const DC_SYMBOLS = Array.from({ length: 12 }, (_, size) => size);
const AC_SYMBOLS = [
  END_OF_BLOCK,
  SIXTEEN_ZEROS,
  ...Array.from({ length: 160 }, (_, index) => (Math.floor(index / 10) << 4) | ((index % 10) + 1)),
];
const AC_CODES = new Map(AC_SYMBOLS.map((symbol, index) => [symbol, index === 0 ? { code: 0, bits: 1 } : { code: 255 + index, bits: 9 }]));

/** Places of a block in the order in which they are written (ITU-T T.81, figure A.6). */
const ZIGZAG = Array.from({ length: 64 }, (_, place) => place).sort((a, b) => zigzagKey(a) - zigzagKey(b));
const COSINES = Float64Array.from({ length: 64 }, (_, index) => {
  const [frequency, place] = [Math.floor(index / 8), index % 8];
  return (frequency === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * place + 1) * frequency * Math.PI) / 16);
});

function zigzagKey(place: number): number {
  const [row, column] = [Math.floor(place / 8), place % 8];
  return (row + column) * 8 + ((row + column) % 2 === 0 ? column : row);
}

/** The picture as baseline JPEG (ITU-T T.81) without subsampling. @param quality 1 to 100; more is finer */
export async function jpeg({ width, height, palette, pixels }: Picture, quality: number): Promise<Buffer> {
  const coarseness = (101 - Math.min(100, Math.max(1, quality))) / 25;
  const steps = Array.from({ length: 64 }, (_, place) =>
    Math.min(255, Math.max(1, Math.round((2 + Math.floor(place / 8) + (place % 8)) * coarseness))),
  );
  const planes = planesOf(palette);
  const bits = new BitWriter();
  const rest = breather();
  const before = [0, 0, 0];
  for (let top = 0; top < height; top += BLOCK) {
    for (let left = 0; left < width; left += BLOCK) {
      const block = blockAt({ width, height, pixels }, left, top);
      for (const [plane, values] of planes.entries())
        before[plane] = writeBlock(bits, frequenciesOf(block, values), steps, before[plane] ?? 0);
    }
    await rest();
  }
  // What is left of the last byte is ones (F.1.2.3).
  if (bits.heldBits > 0) bits.highestFirst(0xff, 8 - bits.heldBits);
  return Buffer.concat([head(width, height, steps), stuffed(bits.bytes()), Buffer.from('ffd9', 'hex')]);
}

/** Luma and the two chromas of every colour, centred on 0 (JFIF). */
function planesOf(palette: Uint8Array): Float32Array[] {
  const plane = (weigh: (red: number, green: number, blue: number) => number) =>
    Float32Array.from({ length: 256 }, (_, index) =>
      weigh(palette[index * 4] ?? 0, palette[index * 4 + 1] ?? 0, palette[index * 4 + 2] ?? 0),
    );
  return [
    plane((red, green, blue) => 0.299 * red + 0.587 * green + 0.114 * blue - 128),
    plane((red, green, blue) => -0.168736 * red - 0.331264 * green + 0.5 * blue),
    plane((red, green, blue) => 0.5 * red - 0.418688 * green - 0.081312 * blue),
  ];
}

/** The 64 colours of a block, or the one that all have. Beyond the edge, the edge goes on. */
function blockAt({ width, height, pixels }: Pick<Picture, 'width' | 'height' | 'pixels'>, left: number, top: number): Uint8Array | number {
  const block = new Uint8Array(64);
  const first = pixels[top * width + left] ?? 0;
  let isFlat = true;
  for (let place = 0; place < 64; place += 1) {
    const y = Math.min(height - 1, top + (place >> 3));
    const index = pixels[y * width + Math.min(width - 1, left + (place & 7))] ?? 0;
    block[place] = index;
    isFlat &&= index === first;
  }
  return isFlat ? first : block;
}

/** The discrete cosine transform of a block's values; a flat one has a mean and nothing else. */
function frequenciesOf(block: Uint8Array | number, values: Float32Array): Float64Array | number {
  if (typeof block === 'number') return 8 * (values[block] ?? 0);
  const rows = new Float64Array(64);
  const result = new Float64Array(64);
  for (let place = 0; place < 64; place += 1) {
    let sum = 0;
    for (let x = 0; x < 8; x += 1) sum += (values[block[(place & 56) | x] ?? 0] ?? 0) * (COSINES[(place & 7) * 8 + x] ?? 0);
    rows[place] = sum;
  }
  for (let place = 0; place < 64; place += 1) {
    let sum = 0;
    for (let y = 0; y < 8; y += 1) sum += (rows[y * 8 + (place & 7)] ?? 0) * (COSINES[(place >> 3) * 8 + y] ?? 0);
    result[place] = sum;
  }
  return result;
}

/** @returns the mean as it was written: the next block's is written as the difference from it */
function writeBlock(bits: BitWriter, frequencies: Float64Array | number, steps: readonly number[], before: number): number {
  const level = (place: number): number =>
    Math.round((typeof frequencies === 'number' ? (place === 0 ? frequencies : 0) : (frequencies[place] ?? 0)) / (steps[place] ?? 1));
  const mean = level(0);
  const size = sizeOf(mean - before);
  bits.highestFirst(size, 4);
  writeMagnitude(bits, mean - before, size);
  let zeros = 0;
  for (let index = 1; index < 64 && typeof frequencies !== 'number'; index += 1) {
    const value = level(ZIGZAG[index] ?? 0);
    if (value === 0) {
      zeros += 1;
      continue;
    }
    for (; zeros > 15; zeros -= 16) writeSymbol(bits, SIXTEEN_ZEROS);
    writeSymbol(bits, (zeros << 4) | sizeOf(value));
    writeMagnitude(bits, value, sizeOf(value));
    zeros = 0;
  }
  if (zeros > 0 || typeof frequencies === 'number') writeSymbol(bits, END_OF_BLOCK);
  return mean;
}

const sizeOf = (value: number): number => 32 - Math.clz32(Math.abs(value));

function writeSymbol(bits: BitWriter, symbol: number): void {
  const { code, bits: length } = AC_CODES.get(symbol) ?? { code: 0, bits: 1 };
  bits.highestFirst(code, length);
}

/** A negative value is written as one less, in so many bits (F.1.2.1). */
function writeMagnitude(bits: BitWriter, value: number, size: number): void {
  if (size > 0) bits.highestFirst(value < 0 ? value - 1 : value, size);
}

/** A byte of ones would begin a marker; a zero after it says that it does not. */
function stuffed(bytes: Buffer): Buffer {
  const result = Buffer.alloc(bytes.length + bytes.reduce((count, byte) => count + (byte === 0xff ? 1 : 0), 0));
  let at = 0;
  for (const byte of bytes) {
    result[at++] = byte;
    if (byte === 0xff) result[at++] = 0;
  }
  return result;
}

function head(width: number, height: number, steps: readonly number[]): Buffer {
  const segment = (marker: number, ...data: number[]) => [0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff, ...data];
  const counts = (...of: (readonly [bits: number, count: number])[]) =>
    Array.from({ length: 16 }, (_, index) => of.find(([bits]) => bits === index + 1)?.[1] ?? 0);
  const component = (id: number) => [id, 0x11, 0];
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xe0, ...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0),
    ...segment(0xdb, 0, ...ZIGZAG.map((place) => steps[place] ?? 1)),
    ...segment(0xc0, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 3, ...component(1), ...component(2), ...component(3)),
    ...segment(0xc4, 0x00, ...counts([4, DC_SYMBOLS.length]), ...DC_SYMBOLS),
    ...segment(0xc4, 0x10, ...counts([1, 1], [9, AC_SYMBOLS.length - 1]), ...AC_SYMBOLS),
    ...segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0),
  ]);
}
