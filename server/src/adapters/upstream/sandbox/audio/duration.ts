import type { FileEnds } from '../files.ts';

/** Of a recording that says nothing of its length: a voice in a compressed format. */
const BYTES_PER_SECOND = 4000;
/** No codec for speech needs less: a header that says so lies. */
const LEAST_BYTES_PER_SECOND = 250;
const OPUS_RATE = 48_000;

/**
 * Length of a recording, seconds. Exact where its header says so (WAV, FLAC, Ogg, MP4), by the first frame's bit rate for MP3, and by its
 * size for everything else.
 */
export function durationOf({ head, tail }: FileEnds, bytes: number): number {
  const seconds = wav(head, bytes) ?? flac(head) ?? ogg(head, tail) ?? mp3(head, bytes) ?? mp4(head) ?? mp4(tail);
  const known = seconds !== undefined && Number.isFinite(seconds) && seconds >= 0 ? seconds : bytes / BYTES_PER_SECOND;
  return Math.round(Math.min(known, bytes / LEAST_BYTES_PER_SECOND) * 1000) / 1000;
}

function wav(head: Buffer, bytes: number): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString('latin1', at, at + 4);
    const length = head.readUInt32LE(at + 4);
    if (id === 'fmt ' && at + 24 <= head.length) bytesPerSecond = wavBytesPerSecond(head.subarray(at + 8));
    // A recorder that does not know the end yet writes a size beyond the file's.
    if (id === 'data') return bytesPerSecond > 0 ? Math.min(length, bytes - at - 8) / bytesPerSecond : undefined;
    at += 8 + length + (length % 2);
  }
  return undefined;
}

/** Uncompressed, it follows from rate, channels and width, as a decoder has it; else it is stated. */
function wavBytesPerSecond(format: Buffer): number {
  const isUncompressed = format.readUInt16LE(0) === 1 || format.readUInt16LE(0) === 0xfffe;
  if (!isUncompressed) return format.readUInt32LE(8);
  return format.readUInt32LE(4) * format.readUInt16LE(2) * Math.ceil(format.readUInt16LE(14) / 8);
}

/** STREAMINFO: 20 bits of sample rate, 36 of length in samples. */
function flac(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'fLaC' || head.length < 26) return undefined;
  const rate = head.readUIntBE(18, 3) >>> 4;
  const samples = ((head[21] ?? 0) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return rate > 0 && samples > 0 ? samples / rate : undefined;
}

/** The last page says where it ends: in 48ths of a millisecond for Opus, in samples for Vorbis. */
function ogg(head: Buffer, tail: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'OggS') return undefined;
  const last = tail.lastIndexOf('OggS');
  if (last < 0 || last + 14 > tail.length) return undefined;
  const granule = Number(tail.readBigInt64LE(last + 6));
  const opus = head.indexOf('OpusHead');
  if (opus >= 0 && opus + 12 <= head.length) return (granule - head.readUInt16LE(opus + 10)) / OPUS_RATE;
  const vorbis = head.indexOf('\x01vorbis');
  return vorbis >= 0 && vorbis + 16 <= head.length ? granule / head.readUInt32LE(vorbis + 12) : undefined;
}

/** The movie header of MP4 and M4A, wherever it stands. */
function mp4(part: Buffer): number | undefined {
  const at = part.indexOf('mvhd');
  if (at < 0 || at + 36 > part.length) return undefined;
  const isLong = part[at + 4] === 1;
  const scale = part.readUInt32BE(at + (isLong ? 24 : 16));
  const length = isLong ? Number(part.readBigUInt64BE(at + 28)) : part.readUInt32BE(at + 20);
  return scale > 0 ? length / scale : undefined;
}

/** Bit rates of layer III, kbit/s: of MPEG-1, and of the two with low sample rates. */
const FULL_RATES = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const LOW_RATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

function mp3(head: Buffer, bytes: number): number | undefined {
  const tagged = head.toString('latin1', 0, 3) === 'ID3' && head.length > 10;
  const start = tagged ? 10 + [6, 7, 8, 9].reduce((size, at) => (size << 7) | ((head[at] ?? 0) & 0x7f), 0) : 0;
  if (start + 4 > head.length) return undefined;
  const header = head.readUInt32BE(start);
  // Eleven ones, then layer III.
  if (header >>> 21 !== 0x7ff || ((header >>> 17) & 3) !== 1) return undefined;
  const kilobits = (((header >>> 19) & 3) === 3 ? FULL_RATES : LOW_RATES)[(header >>> 12) & 15] ?? 0;
  return kilobits > 0 ? ((bytes - start) * 8) / (kilobits * 1000) : undefined;
}
