import { type Bits, highestFirst, packedHighestFirst } from '../bits.ts';
import type { Piece } from '../composition.ts';
import { id3, type Speech } from './containers.ts';
import { type Note, soundingUnits } from './melody.ts';

/** MPEG-2 layer III, 32 kbit/s, 24 kHz, mono: 96 bytes for 576 samples (ISO/IEC 13818-3). */
const HEADER = highestFirst(0xfff344c4, 32);
const FRAME_BYTES = 96;
/** Loudness of a tone, in quarters of a doubling from 210 on. */
const GLOBAL_GAIN = 196;

/** A note is one line of the spectrum: all that the frames need is a sign, which turns as a steady tone's does. */
export const mp3 = ({ text, melody }: Speech): Piece[] => [id3(text), ...melody.map((note) => () => framesOf(note))];

function framesOf(note: Note): Buffer {
  const sounding = soundingUnits(note);
  const tones = [frame(note.line, false), frame(note.line, true)];
  return Buffer.concat(
    Array.from({ length: note.units }, (_, unit) => (unit < sounding && tones[isNegative(note, unit) ? 1 : 0]) || SILENCE),
  );
}

/** The phase of a tone in the middle of a line advances by (line + 1/2) half turns a frame. */
const isNegative = ({ line }: Note, unit: number): boolean => Math.cos(Math.PI * (0.25 + unit * (line + 0.5))) < 0;

const SILENCE = framed(HEADER);

function frame(line: number, isNegative: boolean): Buffer {
  const pairs = (line >> 1) + 1;
  // Huffman table 1: a pair of zeros takes one bit; (1, 0) two and (0, 1) three, and then a sign.
  const spectrum = '1'.repeat(pairs - 1) + (line % 2 === 1 ? '001' : '01') + (isNegative ? '1' : '0');
  const sizes = highestFirst(0, 9) + highestFirst(spectrum.length, 12) + highestFirst(pairs, 9) + highestFirst(GLOBAL_GAIN, 8);
  // No bits for scale factors, a long window, table 1 in all three regions.
  const tables = highestFirst(0, 10) + highestFirst(1, 5).repeat(3) + highestFirst(0, 9);
  return framed(HEADER + sizes + tables + spectrum);
}

function framed(bits: Bits): Buffer {
  const said = packedHighestFirst(bits);
  return Buffer.concat([said, Buffer.alloc(FRAME_BYTES - said.length)]);
}
