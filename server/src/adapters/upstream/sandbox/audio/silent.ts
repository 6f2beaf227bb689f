import type { Piece } from '../composition.ts';
import { id3, type Speech, vorbisComments } from './containers.ts';
import { SAMPLE_RATE, UNIT_SAMPLES, unitsOf } from './melody.ts';

// AAC and Opus are of the right length, but nothing is heard in them: a tone would need their whole spectrum coders.

const secondsOf = ({ melody }: Speech): number => (unitsOf(melody) * UNIT_SAMPLES) / SAMPLE_RATE;

/** AAC-LC at 24 kHz, mono: an ADTS header (ISO/IEC 14496-3, 1.A.2) and a channel without any band. */
const AAC_FRAME = Buffer.from('fff15840017ffc00000007', 'hex');
const AAC_FRAME_SAMPLES = 1024;

export const aac = (speech: Speech): Piece[] => {
  const frames = Math.ceil((secondsOf(speech) * SAMPLE_RATE) / AAC_FRAME_SAMPLES);
  return [id3(speech.text), Buffer.alloc(frames * AAC_FRAME.length, AAC_FRAME)];
};

/** 20 ms of silence (RFC 6716): a fullband frame that is told to be nothing. */
const OPUS_PACKET = Buffer.from('f8fffe', 'hex');
const PACKETS_PER_SECOND = 50;
const PACKETS_PER_PAGE = 10;
/** Opus counts time at this rate, for every sound. */
const OPUS_RATE = 48_000;
const PRESKIP = 312;

/** Opus in Ogg (RFC 7845): two pages of head, then a page for every fifth of a second. */
export function opus(speech: Speech): Piece[] {
  const granules = PRESKIP + Math.round(secondsOf(speech) * OPUS_RATE);
  const packets = Math.ceil((granules / OPUS_RATE) * PACKETS_PER_SECOND);
  const head = Buffer.from('OpusHead\x01\x01\0\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(PRESKIP, 10);
  head.writeUInt32LE(SAMPLE_RATE, 12);
  const pages: Buffer[] = [
    page({ packets: [head], granule: 0, sequence: 0, flags: 2 }),
    page({ packets: [Buffer.concat([Buffer.from('OpusTags', 'latin1'), vorbisComments(speech.text)])], granule: 0, sequence: 1, flags: 0 }),
  ];
  for (let first = 0; first < packets; first += PACKETS_PER_PAGE) {
    const end = Math.min(packets, first + PACKETS_PER_PAGE);
    const granule = Math.min(end * (OPUS_RATE / PACKETS_PER_SECOND), granules);
    const inPage = Array.from({ length: end - first }, () => OPUS_PACKET);
    pages.push(page({ packets: inPage, granule, sequence: pages.length, flags: end === packets ? 4 : 0 }));
  }
  return pages;
}

interface Page {
  readonly packets: readonly Buffer[];
  readonly granule: number;
  readonly sequence: number;
  /** 2: the first page. 4: the last one. */
  readonly flags: number;
}

/** A page of Ogg (RFC 3533). */
function page({ packets, granule, sequence, flags }: Page): Buffer {
  const lacing = packets.flatMap(({ length }) => [...Array.from({ length: Math.floor(length / 255) }, () => 255), length % 255]);
  const head = Buffer.alloc(27);
  head.write('OggS', 0, 'latin1');
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(lacing.length, 26);
  const bytes = Buffer.concat([head, Buffer.from(lacing), ...packets]);
  bytes.writeUInt32LE(oggSum(bytes), 22);
  return bytes;
}

const OGG_CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value;
});

const oggSum = (bytes: Buffer): number => bytes.reduce((sum, byte) => ((sum << 8) ^ (OGG_CRC[(sum >>> 24) ^ byte] ?? 0)) >>> 0, 0);
