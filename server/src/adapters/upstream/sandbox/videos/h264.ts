import { type Bits, highestFirst, packedHighestFirst } from '../bits.ts';

/**
 * H.264 (ITU-T H.264), Constrained Baseline, whose frames stand alone and have one colour each. The first macroblock of 16 × 16 pixels has a
 * coefficient for luma and one for each chroma; all others are what is predicted from their neighbours, in eight bits. At this quantiser a
 * coefficient of luma is one step of brightness, one of chroma two steps (8.5). No 16 zeros follow each other: nothing has to be broken up
 * (7.4.1).
 */
const QUANTISER = 28;
const MACROBLOCK = 16;

/** So many macroblocks a frame may have at level 4; above it is level 5.1 (table A-1). */
const LEVEL_4_MACROBLOCKS = 8192;

/** Size of the video, pixels: even. */
export interface VideoSize {
  readonly width: number;
  readonly height: number;
}

/** How far luma and the two chromas are from grey, in coefficients: each at least {@link LEAST}. */
export type Colour = readonly [luma: number, u: number, v: number];

/** From here on every coefficient has the same code but for twelve bits (9.2.2.1). */
const LEAST = 17;

const inMacroblocks = ({ width, height }: VideoSize): VideoSize => ({
  width: Math.ceil(width / MACROBLOCK),
  height: Math.ceil(height / MACROBLOCK),
});

/** Sequence parameter set (7.3.2.1.1). */
export function sequenceParameters(size: VideoSize): Buffer {
  const blocks = inMacroblocks(size);
  const level = blocks.width * blocks.height <= LEVEL_4_MACROBLOCKS ? 40 : 51;
  const crop = [blocks.width * MACROBLOCK - size.width, blocks.height * MACROBLOCK - size.height] as const;
  return unit(
    ...[0x67, 66, 0xc0, level].map((byte) => highestFirst(byte, 8)),
    // Ids and lengths at their least; pictures are shown in the order they come; one reference.
    ...[0, 0, 2, 1].map(unsigned),
    '0',
    ...[blocks.width - 1, blocks.height - 1].map(unsigned),
    '11',
    ...(crop[0] + crop[1] > 0 ? ['1', ...[0, crop[0] / 2, 0, crop[1] / 2].map(unsigned)] : ['0']),
    '0',
  );
}

/** Picture parameter set (7.3.2.2): variable-length codes, our quantiser, everything else at its plainest. */
export const pictureParameters = (): Buffer =>
  unit(
    highestFirst(0x68, 8),
    ...[0, 0].map(unsigned),
    '00',
    ...[0, 0, 0].map(unsigned),
    '000',
    ...[QUANTISER - 26, 0, 0].map(signed),
    '000',
  );

/** @param number tells the frame from the one before */
export function frame(size: VideoSize, [luma, u, v]: Colour, number: number): Buffer {
  const { width, height } = inMacroblocks(size);
  // The slice's head (7.3.3): from the first macroblock, nothing but intra prediction.
  const head = [highestFirst(0x65, 8), ...[0, 7, 0].map(unsigned), '0000', unsigned(number % 2), '00', signed(0)].join('');
  // Predicted as a mean, of luma and of chroma, with and without coefficients of chroma (table 7-11).
  const first = [unsigned(7), unsigned(0), signed(0), '000101', large(luma), '000111', large(u), '000111', large(v)].join('');
  const other = [unsigned(3), unsigned(0), signed(0), '1'].join('');
  const begun = head + first;
  const whole = begun.length - (begun.length % 8);
  // The others are the same eight bits, wherever in a byte they begin.
  const others = packedHighestFirst((begun.slice(whole) + other + other).slice(8, 16));
  const [before, after] = [begun.slice(whole), other.slice(8 - (begun.length % 8))];
  return Buffer.concat([
    packedHighestFirst(begun.slice(0, whole) + (before + other).slice(0, 8)),
    Buffer.alloc(width * height - 2, others),
    unit(after),
  ]);
}

/** A coefficient that is alone in its block, after its "one, and large" (table 9-5): its size, and no zeros before it. */
function large(level: number): Bits {
  return `${'0'.repeat(15)}1${highestFirst(2 * (Math.abs(level) - LEAST) + (level < 0 ? 1 : 0), 12)}1`;
}

/** Exponential Golomb codes (9.1). */
function unsigned(value: number): Bits {
  const bits = (value + 1).toString(2);
  return '0'.repeat(bits.length - 1) + bits;
}

const signed = (value: number): Bits => unsigned(value > 0 ? 2 * value - 1 : -2 * value);

/** Ends with a one and zeros. */
const unit = (...bits: readonly Bits[]): Buffer => packedHighestFirst(`${bits.join('')}1`);
