import { atLeast, type RecordingLength } from './length.ts';

export interface StreamInfo {
  /** Samples a second. */
  readonly rate: number;
  /** Samples, as claimed; 0 where it is not known. */
  readonly samples: number;
  readonly mostBlockSamples: number;
}

/** STREAMINFO (RFC 9639, 8.2), its 34 bytes. */
export const streamInfo = (block: Buffer): StreamInfo => ({
  rate: block.readUIntBE(10, 3) >>> 4,
  samples: ((block[13] ?? 0) & 15) * 2 ** 32 + block.readUInt32BE(14),
  mostBlockSamples: block.readUInt16BE(2),
});

/** With the longest number of a frame, and all that may follow it. */
const MOST_HEAD_BYTES = 16;
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** The length of the frame that begins at that place; undefined where none does (RFC 9639, 9.1). */
function flacFrameSeconds(file: Buffer, from: number, { rate: streamRate }: Pick<StreamInfo, 'rate'>): number | undefined {
  if (file[from] !== 0xff || ((file[from + 1] ?? 0) & 0xfe) !== 0xf8) return undefined;
  const head = file.subarray(from, from + MOST_HEAD_BYTES);
  const bytes = head.length < MOST_HEAD_BYTES ? Buffer.concat([head, Buffer.alloc(MOST_HEAD_BYTES)]) : head;
  const [sizes = 0, rest = 0] = bytes.subarray(2, 4);
  const [sizeCode, rateCode] = [sizes >>> 4, sizes & 15];
  if (sizeCode === 0 || rateCode === 15 || rest >>> 4 > 10 || (rest & 1) === 1) return undefined;
  let next = 4 + codedLength(bytes[4] ?? 0);
  const block = sizeCode === 6 ? bytes.readUInt8(next) + 1 : sizeCode === 7 ? bytes.readUInt16BE(next) + 1 : blockOf(sizeCode);
  next += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rate =
    rateCode === 12
      ? bytes.readUInt8(next) * 1000
      : rateCode === 13
        ? bytes.readUInt16BE(next)
        : rateCode === 14
          ? bytes.readUInt16BE(next) * 10
          : (RATES[rateCode] ?? 0);
  next += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  if (crc8(bytes.subarray(0, next)) !== bytes[next]) return undefined;
  const known = rate || streamRate;
  return known > 0 ? block / known : undefined;
}

const blockOf = (code: number): number => (code === 1 ? 192 : code <= 5 ? 144 << code : 1 << code);

/** The frame's number is coded as UTF-8 codes characters. */
const codedLength = (first: number): number => (first < 0x80 ? 1 : Math.max(1, Math.clz32(~(first << 24))));

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1;
  }
  return crc;
}

/** Of all frames from there on: a frame does not say its length in bytes, so the next one is looked for. */
export function flacSeconds(bytes: Buffer, from: number, info: StreamInfo): number {
  let seconds = 0;
  for (let at = from; at >= 0 && at < bytes.length; at = bytes.indexOf(0xff, at + 1)) seconds += flacFrameSeconds(bytes, at, info) ?? 0;
  return seconds;
}

/** Native FLAC. Silence takes some ten bytes for seconds, so that every frame's own head is counted. */
export function flac(bytes: Buffer): RecordingLength | undefined {
  if (bytes.length < 42 || ((bytes[4] ?? 0) & 127) !== 0) return undefined;
  const info = streamInfo(bytes.subarray(8, 42));
  let at = 4;
  for (let isLast = false; !isLast && at + 4 <= bytes.length; ) {
    isLast = (bytes[at] ?? 0) >= 128;
    at += 4 + bytes.readUIntBE(at + 1, 3);
  }
  return atLeast(flacSeconds(bytes, at, info), info.rate > 0 ? info.samples / info.rate : 0);
}
