import { atLeast, type RecordingLength } from './length.ts';

/** A frame of a stream without a container. */
export interface Frame {
  readonly bytes: number;
  readonly seconds: number;
  /** The same in all frames of a stream. */
  readonly kind: number;
}

/** Layers III and II of MPEG-1, and of the two with low sample rates; layer I of both. Kbit/s. */
const RATES = {
  full3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  full2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  full1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  low: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  low1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
};

/** A frame of MP3, MP2 or MP1 at that place (ISO 11172-3, 13818-3). */
export function mpegFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(at);
  const version = (header >>> 19) & 3;
  const layer = 4 - ((header >>> 17) & 3);
  const sampling = (header >>> 10) & 3;
  if (header >>> 21 !== 0x7ff || version === 1 || layer === 4 || sampling === 3) return undefined;
  const isFull = version === 3;
  const row = layer === 1 ? (isFull ? RATES.full1 : RATES.low1) : isFull ? (layer === 2 ? RATES.full2 : RATES.full3) : RATES.low;
  const kilobits = row[(header >>> 12) & 15];
  if (!kilobits) return undefined;
  const rate = ([44_100, 48_000, 32_000][sampling] ?? 0) / (isFull ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 1 ? 384 : layer === 3 && !isFull ? 576 : 1152;
  const padding = (header >>> 9) & 1;
  const length =
    layer === 1 ? (Math.floor((12_000 * kilobits) / rate) + padding) * 4 : Math.floor((samples * 125 * kilobits) / rate) + padding;
  // Version, layer and rate.
  return { bytes: length, seconds: samples / rate, kind: header & 0x1e0c00 };
}

export const AAC_RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];
const AAC_SAMPLES = 1024;

/** A frame of AAC with its own head (ISO 13818-7, ADTS). */
function adtsFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 7 > bytes.length || bytes.readUInt16BE(at) >>> 4 !== 0xfff || ((bytes[at + 1] ?? 0) & 6) !== 0) return undefined;
  const rate = AAC_RATES[((bytes[at + 2] ?? 0) >>> 2) & 15];
  const length = (bytes.readUIntBE(at + 3, 3) >>> 5) & 0x1fff;
  if (rate === undefined || length < 7) return undefined;
  return { bytes: length, seconds: (((bytes[at + 6] ?? 0) & 3) + 1) * (AAC_SAMPLES / rate), kind: rate };
}

type FrameAt = (bytes: Buffer, at: number) => Frame | undefined;

interface Stream {
  readonly seconds: number;
  /** With what its frames may hide. */
  readonly mostSeconds: number;
  readonly frames: number;
  /** Bytes that belong to no frame. A decoder looks for the next one in them, and so does this. */
  readonly strayBytes: number;
}

export function streamOf(bytes: Buffer, frameAt: FrameAt): Stream {
  let [seconds, hidden, frames, strayBytes] = [0, 0, 0, 0];
  for (let at = 0; at < bytes.length; ) {
    // Every frame of either kind begins with eleven ones.
    const frame = bytes[at] === 0xff ? frameAt(bytes, at) : undefined;
    if (frame) {
      const end = at + frame.bytes;
      seconds += frame.seconds;
      if (end !== bytes.length && frameAt(bytes, end)?.kind !== frame.kind)
        hidden += longestStream(bytes.subarray(at, end), frameAt) - frame.seconds;
      frames += 1;
      at = end;
    } else {
      strayBytes += 1;
      at += 1;
    }
  }
  return { seconds, mostSeconds: seconds + hidden, frames, strayBytes };
}

/**
 * The most that a decoder can make of a frame behind which no other of its kind begins. What looks like the head of a long one may hide many short
 * ones, and a decoder that takes no frame without the next one's head finds them. Of those that do not overlap, which last longest together.
 */
function longestStream(bytes: Buffer, frameAt: FrameAt): number {
  // From the end on, what is to come from each byte on.
  const toCome = new Float64Array(bytes.length + 1);
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const frame = bytes[at] === 0xff ? frameAt(bytes, at) : undefined;
    const behind = toCome[at + 1] ?? 0;
    toCome[at] = frame ? Math.max(behind, frame.seconds + (toCome[at + frame.bytes] ?? 0)) : behind;
  }
  return toCome[0] ?? 0;
}

/** Frames that lie here and there in something else are no recording. */
const isStream = ({ frames, strayBytes }: Stream, { length }: Buffer): boolean => frames > 0 && strayBytes <= length / 2;

/** MPEG audio has no lower bit rate than 8 kbit/s. */
const LEAST_MPEG_BYTES_PER_SECOND = 1_000;

export function mpegAudio(bytes: Buffer): RecordingLength | undefined {
  const stream = streamOf(bytes, mpegFrame);
  if (!isStream(stream, bytes)) return undefined;
  return atLeast(stream.seconds, stream.mostSeconds + stream.strayBytes / LEAST_MPEG_BYTES_PER_SECOND, claimedByXing(bytes));
}

/** The number of frames that the first of them claims (Xing, Info, VBRI). */
function claimedByXing(bytes: Buffer): number {
  const start = bytes.indexOf(0xff);
  const frame = mpegFrame(bytes, start);
  if (!frame) return 0;
  const head = bytes.subarray(start, start + Math.min(frame.bytes, 200));
  const xing = Math.max(head.indexOf('Xing', 0, 'latin1'), head.indexOf('Info', 0, 'latin1'));
  if (xing >= 0 && xing + 12 <= head.length && head.readUInt32BE(xing + 4) & 1) return head.readUInt32BE(xing + 8) * frame.seconds;
  const vbri = head.indexOf('VBRI', 0, 'latin1');
  return vbri >= 0 && vbri + 18 <= head.length ? head.readUInt32BE(vbri + 14) * frame.seconds : 0;
}

/** Seven bytes of head and two of content, 1,024 samples at the lowest rate. */
const LEAST_AAC_BYTES_PER_SECOND = 60;

export function adts(bytes: Buffer): RecordingLength | undefined {
  if (!adtsFrame(bytes, 0)) return undefined;
  const stream = streamOf(bytes, adtsFrame);
  if (!isStream(stream, bytes)) return undefined;
  return atLeast(stream.seconds, stream.mostSeconds + stream.strayBytes / LEAST_AAC_BYTES_PER_SECOND);
}

const AMR_SECONDS = 0.02;
/** Bytes of a frame by its mode, its head included (RFC 4867, 5.3). */
const NARROW = [13, 14, 16, 18, 20, 21, 27, 32, 6];
const WIDE = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6];

/** AMR and AMR-WB, whose silence takes a byte for 20 ms. */
export function amr(bytes: Buffer): RecordingLength | undefined {
  const head = ['#!AMR-WB\n', '#!AMR\n'].find((one) => bytes.toString('latin1', 0, one.length) === one);
  if (head === undefined) return undefined;
  const sizes = head === '#!AMR\n' ? NARROW : WIDE;
  let frames = 0;
  for (let at = head.length; at < bytes.length; frames += 1) at += sizes[((bytes[at] ?? 0) >>> 3) & 15] ?? 1;
  return atLeast(frames * AMR_SECONDS);
}
