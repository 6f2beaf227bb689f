import { pictureParameters, sequenceParameters, type VideoSize } from './h264.ts';

export const FRAMES_PER_SECOND = 8;

/** Milliseconds. */
const MOVIE_SCALE = 1000;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

/** An MP4 file (ISO/IEC 14496-12, -14, -15) of one H.264 track whose frames all stand alone; its index comes before its data. */
export function mp4(size: VideoSize, frames: readonly Buffer[]): Buffer {
  const samples = frames.map((frame) => Buffer.concat([u32(frame.length), frame]));
  const type = box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'));
  // Where the data begins is known once the index is written: it is as long with any number in it.
  const before = type.length + movie(size, samples, 0).length + 8;
  return Buffer.concat([type, movie(size, samples, before), box('mdat', ...samples)]);
}

function movie(size: VideoSize, samples: readonly Buffer[], dataAt: number): Buffer {
  const milliseconds = (samples.length / FRAMES_PER_SECOND) * MOVIE_SCALE;
  const header = full('mvhd', 0, u32(0, 0, MOVIE_SCALE, milliseconds, 0x10000), u16(0x100, 0), u32(0, 0, ...IDENTITY, 0, 0, 0, 0, 0, 0, 2));
  const trackHeader = full(
    'tkhd',
    3,
    u32(0, 0, 1, 0, milliseconds, 0, 0),
    u16(0, 0, 0, 0),
    u32(...IDENTITY, size.width << 16, size.height << 16),
  );
  const media = box(
    'mdia',
    // Language "und": three letters of five bits.
    full('mdhd', 0, u32(0, 0, FRAMES_PER_SECOND, samples.length), u16(0x55c4, 0)),
    full('hdlr', 0, u32(0), ascii('vide'), u32(0, 0, 0), ascii('Tallygate sandbox\0')),
    box(
      'minf',
      full('vmhd', 1, u16(0, 0, 0, 0)),
      box('dinf', full('dref', 0, u32(1), full('url ', 1))),
      box(
        'stbl',
        full('stsd', 0, u32(1), sampleEntry(size)),
        full('stts', 0, u32(1, samples.length, 1)),
        full('stsc', 0, u32(1, 1, samples.length, 1)),
        full('stsz', 0, u32(0, samples.length, ...samples.map(({ length }) => length))),
        full('stco', 0, u32(1, dataAt)),
      ),
    ),
  );
  return box('moov', header, box('trak', trackHeader, media));
}

function sampleEntry(size: VideoSize): Buffer {
  const sequence = sequenceParameters(size);
  const picture = pictureParameters();
  // Version, then profile and level as the sequence has them; lengths of four bytes; one set of each kind (14496-15, 5.2.4.1).
  const configuration = Buffer.concat([
    Buffer.from([1]),
    sequence.subarray(1, 4),
    Buffer.from([0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  ]);
  return box(
    'avc1',
    u16(0, 0, 0, 1),
    u32(0, 0, 0, 0),
    u16(size.width, size.height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', configuration),
  );
}

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(content.reduce((sum, { length }) => sum + length, 8)), ascii(type), ...content]);
}

/** A box with a version, 0, and flags. */
const full = (type: string, flags: number, ...content: readonly Buffer[]): Buffer => box(type, u32(flags), ...content);
