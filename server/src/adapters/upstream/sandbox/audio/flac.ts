import type { Piece } from '../composition.ts';
import { type Speech, vorbisComments } from './containers.ts';
import { type Note, SAMPLE_RATE, samplesOf, UNIT_SAMPLES, unitsOf } from './melody.ts';

const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => remainder(byte, 0x07, 8));
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => remainder(byte, 0x8005, 16));

/** FLAC (RFC 9639) whose frames hold the samples as they are: one frame a unit. */
export const flac = ({ text, melody }: Speech): Piece[] => {
  const comments = vorbisComments(text);
  const head = Buffer.concat([Buffer.from('fLaC', 'latin1'), block(0, streamInfo(unitsOf(melody))), block(0x84, comments)]);
  return [head, ...melody.map((note) => () => framesOf(note))];
};

function block(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt8(type, 0);
  head.writeUIntBE(data.length, 1, 3);
  return Buffer.concat([head, data]);
}

/** Sizes of blocks, sample rate, one channel of 16 bits, length; sizes of frames and the sum of the samples are left open (8.2). */
function streamInfo(units: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(UNIT_SAMPLES, 0);
  info.writeUInt16BE(UNIT_SAMPLES, 2);
  const samples = BigInt(units * UNIT_SAMPLES);
  info.writeBigUInt64BE((BigInt(SAMPLE_RATE) << 44n) | (15n << 36n) | samples, 10);
  return info;
}

function framesOf(note: Note): Buffer {
  const samples = samplesOf(note);
  return Buffer.concat(
    Array.from({ length: note.units }, (_, unit) =>
      frame(note.firstUnit + unit, samples.subarray(unit * UNIT_SAMPLES, (unit + 1) * UNIT_SAMPLES)),
    ),
  );
}

function frame(number: number, samples: Int16Array): Buffer {
  // Blocks of 576, 24 kHz, mono, 16 bits (9.1); the frame's number is written as UTF-8 writes a character.
  const head = Buffer.concat([Buffer.from([0xff, 0xf8, 0x27, 0x08]), Buffer.from(String.fromCodePoint(number))]);
  const bytes = Buffer.alloc(head.length + 2 + samples.length * 2 + 2);
  bytes.set(head);
  bytes[head.length] = head.reduce((sum, byte) => CRC8[sum ^ byte] ?? 0, 0);
  // A subframe of samples as they are (9.2.2).
  bytes[head.length + 1] = 0x02;
  for (let at = 0; at < samples.length; at += 1) bytes.writeInt16BE(samples[at] ?? 0, head.length + 2 + at * 2);
  let sum = 0;
  for (let at = 0; at < bytes.length - 2; at += 1) sum = ((sum << 8) & 0xffff) ^ (CRC16[(sum >>> 8) ^ (bytes[at] ?? 0)] ?? 0);
  bytes.writeUInt16BE(sum, bytes.length - 2);
  return bytes;
}

function remainder(byte: number, polynomial: number, bits: number): number {
  let value = byte << (bits - 8);
  for (let bit = 0; bit < 8; bit += 1) value = value & (1 << (bits - 1)) ? (value << 1) ^ polynomial : value << 1;
  return value & ((1 << bits) - 1);
}
