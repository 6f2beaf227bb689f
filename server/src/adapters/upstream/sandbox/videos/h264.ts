import { BitWriter } from '../bit-writer.ts';
import type { Picture } from '../images/picture.ts';

/**
 * H.264 (ITU-T H.264), Constrained Baseline, whose frames stand alone. A macroblock of 16 × 16 pixels has one colour: it is predicted from
 * its neighbour to the left, else above, and the difference is one coefficient each of luma and chroma. At this quantiser a coefficient of
 * luma is exactly one step of brightness, one of chroma two steps, so that what a decoder gets is known without decoding (8.5).
 */
const QUANTISER = 28;
const CHROMA_STEP = 2;
const MACROBLOCK = 16;
const MID_GREY = 128;

/** So many macroblocks a frame may have at level 4; above it is level 5.1 (table A-1). */
const LEVEL_4_MACROBLOCKS = 8192;

/** Size of the video, pixels: even. */
export interface VideoSize {
  readonly width: number;
  readonly height: number;
}

/** The size in macroblocks, rounded up. */
export const inMacroblocks = ({ width, height }: VideoSize): VideoSize => ({
  width: Math.ceil(width / MACROBLOCK),
  height: Math.ceil(height / MACROBLOCK),
});

/** Sequence parameter set (7.3.2.1.1). */
export function sequenceParameters(size: VideoSize): Buffer {
  const blocks = inMacroblocks(size);
  const bits = new BitWriter();
  for (const byte of [0x67, 66, 0xc0, blocks.width * blocks.height <= LEVEL_4_MACROBLOCKS ? 40 : 51]) bits.highestFirst(byte, 8);
  // Ids and lengths at their least; pictures are shown in the order they come; one reference.
  for (const value of [0, 0, 2, 1]) unsigned(bits, value);
  bits.highestFirst(0, 1);
  unsigned(bits, blocks.width - 1);
  unsigned(bits, blocks.height - 1);
  bits.highestFirst(0b11, 2);
  const crop = [blocks.width * MACROBLOCK - size.width, blocks.height * MACROBLOCK - size.height] as const;
  bits.highestFirst(crop[0] + crop[1] > 0 ? 1 : 0, 1);
  if (crop[0] + crop[1] > 0) for (const edge of [0, crop[0] / 2, 0, crop[1] / 2]) unsigned(bits, edge);
  bits.highestFirst(0, 1);
  return unit(bits);
}

/** Picture parameter set (7.3.2.2): variable-length codes, our quantiser, everything else at its plainest. */
export function pictureParameters(): Buffer {
  const bits = new BitWriter();
  bits.highestFirst(0x68, 8);
  for (const value of [0, 0]) unsigned(bits, value);
  bits.highestFirst(0, 2);
  for (const value of [0, 0, 0]) unsigned(bits, value);
  bits.highestFirst(0, 3);
  for (const value of [QUANTISER - 26, 0, 0]) signed(bits, value);
  bits.highestFirst(0, 3);
  return unit(bits);
}

/** A frame whose macroblocks have the colours of the mosaic's pixels. @param number tells it from the one before */
export function frame({ width, height, palette, pixels }: Picture, number: number): Buffer {
  const colours = Array.from({ length: 256 }, (_, index) =>
    yuv(palette[index * 4] ?? 0, palette[index * 4 + 1] ?? 0, palette[index * 4 + 2] ?? 0),
  );
  const bits = new BitWriter();
  bits.highestFirst(0x65, 8);
  // The slice's head (7.3.3): from the first macroblock, nothing but intra prediction.
  for (const value of [0, 7, 0]) unsigned(bits, value);
  bits.highestFirst(0, 4);
  unsigned(bits, number % 2);
  bits.highestFirst(0, 2);
  signed(bits, 0);
  let left: Yuv = [MID_GREY, MID_GREY, MID_GREY];
  let firstOfRow = left;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const prediction = x === 0 && y === 0 ? 'none' : x === 0 ? 'above' : 'left';
      left = macroblock(bits, colours[pixels[y * width + x] ?? 0] ?? left, x === 0 ? firstOfRow : left, prediction);
      if (x === 0) firstOfRow = left;
    }
  }
  return unit(bits);
}

type Yuv = readonly [y: number, u: number, v: number];

/** BT.601, video range. */
const yuv = (red: number, green: number, blue: number): Yuv => [
  Math.round(16 + 0.257 * red + 0.504 * green + 0.098 * blue),
  Math.round(128 - 0.148 * red - 0.291 * green + 0.439 * blue),
  Math.round(128 + 0.439 * red - 0.368 * green - 0.071 * blue),
];

/** Numbers of the modes of prediction: of luma (table 8-4), and of chroma (table 8-5). */
const MODES = { none: { luma: 2, chroma: 0 }, above: { luma: 0, chroma: 2 }, left: { luma: 1, chroma: 1 } } as const;

/** @returns the colour that a decoder gets */
function macroblock(bits: BitWriter, colour: Yuv, predicted: Yuv, from: keyof typeof MODES): Yuv {
  const luma = colour[0] - predicted[0];
  const u = Math.round((colour[1] - predicted[1]) / CHROMA_STEP);
  const v = Math.round((colour[2] - predicted[2]) / CHROMA_STEP);
  const hasChroma = u !== 0 || v !== 0;
  unsigned(bits, 1 + MODES[from].luma + (hasChroma ? 4 : 0));
  unsigned(bits, MODES[from].chroma);
  signed(bits, 0);
  coefficient(bits, luma, LUMA_CODES);
  if (hasChroma) for (const level of [u, v]) coefficient(bits, level, CHROMA_CODES);
  return [colour[0], predicted[1] + CHROMA_STEP * u, predicted[2] + CHROMA_STEP * v];
}

interface Codes {
  readonly none: readonly [code: number, bits: number];
  readonly one: readonly [code: number, bits: number];
  /** More than one in size. */
  readonly large: readonly [code: number, bits: number];
}

/** Codes for "no coefficient" and "one, the first" (table 9-5). */
const LUMA_CODES: Codes = { none: [0b1, 1], one: [0b01, 2], large: [0b000101, 6] };
const CHROMA_CODES: Codes = { none: [0b01, 2], one: [0b1, 1], large: [0b000111, 6] };

/** A block in which only the mean may differ from 0 (9.2). */
function coefficient(bits: BitWriter, level: number, codes: Codes): void {
  const [code, length] = level === 0 ? codes.none : Math.abs(level) === 1 ? codes.one : codes.large;
  bits.highestFirst(code, length);
  if (level === 0) return;
  if (Math.abs(level) === 1) bits.highestFirst(level < 0 ? 1 : 0, 1);
  else largeLevel(bits, 2 * Math.abs(level) - 4 + (level < 0 ? 1 : 0));
  // No zeros before it.
  bits.highestFirst(1, 1);
}

/** So many zeros and a one; from 14 on with four bits of suffix, from 30 on with twelve (9.2.2.1). */
function largeLevel(bits: BitWriter, code: number): void {
  const zeros = code < 14 ? code : code < 30 ? 14 : 15;
  bits.highestFirst(1, zeros + 1);
  if (zeros === 14) bits.highestFirst(code - 14, 4);
  if (zeros === 15) bits.highestFirst(code - 30, 12);
}

/** Exponential Golomb codes (9.1). */
function unsigned(bits: BitWriter, value: number): void {
  const length = 32 - Math.clz32(value + 1);
  bits.highestFirst(0, length - 1);
  bits.highestFirst(value + 1, length);
}

const signed = (bits: BitWriter, value: number): void => unsigned(bits, value > 0 ? 2 * value - 1 : -2 * value);

/** Ends the unit with a one and zeros; three bytes that would look like the beginning of another are broken up (7.4.1). */
function unit(bits: BitWriter): Buffer {
  bits.highestFirst(1, 1);
  if (bits.heldBits > 0) bits.highestFirst(0, 8 - bits.heldBits);
  const said = bits.bytes();
  const escaped: number[] = [];
  let zeros = 0;
  for (const byte of said) {
    if (zeros >= 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(escaped);
}
