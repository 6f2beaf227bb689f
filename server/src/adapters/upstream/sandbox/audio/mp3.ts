import { BitWriter } from '../bit-writer.ts';
import type { Piece } from '../composition.ts';
import { id3, type Speech } from './containers.ts';
import { type Note, soundingUnits } from './melody.ts';

/** MPEG-2 layer III, 32 kbit/s, 24 kHz, mono: 96 bytes for 576 samples (ISO/IEC 13818-3). */
const HEADER = 0xfff344c4;
const FRAME_BYTES = 96;
/** Loudness of a tone, in quarters of a doubling from 210 on. */
const GLOBAL_GAIN = 196;

/** A note is one line of the spectrum: all that the frames need is a sign, which turns as a steady tone's does. */
export const mp3 = ({ text, melody }: Speech): Piece[] => [id3(text), ...melody.map((note) => () => framesOf(note))];

function framesOf(note: Note): Buffer {
  const sounding = soundingUnits(note);
  return Buffer.concat(
    Array.from({ length: note.units }, (_, unit) =>
      frame(unit < sounding ? { line: note.line, isNegative: isNegative(note, unit) } : undefined),
    ),
  );
}

/** The phase of a tone in the middle of a line advances by (line + 1/2) half turns a frame. */
const isNegative = ({ line }: Note, unit: number): boolean => Math.cos(Math.PI * (0.25 + unit * (line + 0.5))) < 0;

function frame(tone: { line: number; isNegative: boolean } | undefined): Buffer {
  const bits = new BitWriter();
  bits.highestFirst(HEADER >>> 16, 16);
  bits.highestFirst(HEADER & 0xffff, 16);
  const pairs = tone ? (tone.line >> 1) + 1 : 0;
  // Huffman table 1: a pair of zeros takes one bit; (1, 0) two and (0, 1) three, and then a sign.
  const lastBits = tone && tone.line % 2 === 1 ? 4 : 3;
  bits.highestFirst(0, 9);
  bits.highestFirst(tone ? pairs - 1 + lastBits : 0, 12);
  bits.highestFirst(pairs, 9);
  bits.highestFirst(tone ? GLOBAL_GAIN : 0, 8);
  // No bits for scale factors, a long window, table 1 in all three regions.
  bits.highestFirst(0, 10);
  for (let region = 0; region < 3; region += 1) bits.highestFirst(1, 5);
  bits.highestFirst(0, 9);
  if (tone) {
    bits.highestFirst((1 << (pairs - 1)) - 1, pairs - 1);
    bits.highestFirst(tone.line % 2 === 1 ? 0b001 : 0b01, lastBits - 1);
    bits.highestFirst(tone.isNegative ? 1 : 0, 1);
  }
  if (bits.heldBits > 0) bits.highestFirst(0, 8 - bits.heldBits);
  const said = bits.bytes();
  return Buffer.concat([said, Buffer.alloc(FRAME_BYTES - said.length)]);
}
