import type { Piece } from '../composition.ts';
import { commentFor } from './carried-text.ts';
import { type Note, SAMPLE_RATE, samplesOf, UNIT_SAMPLES, unitsOf } from './melody.ts';

/** What is spoken, and how it sounds. */
export interface Speech {
  readonly text: string;
  readonly melody: readonly Note[];
}

/** Samples alone: signed, 16 bits, little-endian. */
export const pcm = ({ melody }: Speech): Piece[] => melody.map((note) => () => littleEndian(samplesOf(note)));

/** RIFF WAVE, with the text as its comment. */
export function wav(speech: Speech): Piece[] {
  const comment = evenly(Buffer.from(`${commentFor(speech.text)}\0`));
  const dataBytes = unitsOf(speech.melody) * UNIT_SAMPLES * 2;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(SAMPLE_RATE, 4);
  format.writeUInt32LE(SAMPLE_RATE * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const list = Buffer.concat([Buffer.from('INFO', 'latin1'), riffChunk('ICMT', comment)]);
  const head = Buffer.concat([
    Buffer.from('WAVE', 'latin1'),
    riffChunk('fmt ', format),
    riffChunk('LIST', list),
    riffHead('data', dataBytes),
  ]);
  return [Buffer.concat([riffHead('RIFF', head.length + dataBytes), head]), ...pcm(speech)];
}

/** ID3 2.4, as it stands before MP3 and AAC: a comment, in UTF-8. */
export function id3(text: string): Buffer {
  const comment = Buffer.from(`\x03eng\0${commentFor(text)}`);
  const frame = Buffer.concat([Buffer.from('COMM', 'latin1'), syncsafe(comment.length), Buffer.alloc(2), comment]);
  return Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), syncsafe(frame.length), frame]);
}

/** Vorbis's comments, as FLAC and Opus have them: who wrote it, and the text. */
export function vorbisComments(text: string): Buffer {
  const counted = (value: string): Buffer => {
    const bytes = Buffer.from(value);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  return Buffer.concat([counted('Tallygate sandbox'), Buffer.from([1, 0, 0, 0]), counted(`COMMENT=${commentFor(text)}`)]);
}

/** Seven bits a byte: no size looks like the beginning of a frame. */
const syncsafe = (size: number): Buffer => Buffer.from([21, 14, 7, 0].map((shift) => (size >>> shift) & 0x7f));

const riffHead = (id: string, bytes: number): Buffer => {
  const head = Buffer.from(`${id}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(bytes, 4);
  return head;
};
const riffChunk = (id: string, data: Buffer): Buffer => Buffer.concat([riffHead(id, data.length), data]);
const evenly = (bytes: Buffer): Buffer => (bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]));

function littleEndian(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let at = 0; at < samples.length; at += 1) bytes.writeInt16LE(samples[at] ?? 0, at * 2);
  return bytes;
}
