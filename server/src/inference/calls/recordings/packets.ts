import { flacSeconds, streamInfo } from './flac.ts';
import { AAC_RATES, mpegFrame, streamOf } from './frame-streams.ts';

/** Of a packet of some codec, how long its sound is; of one whose content is not at hand, how long it can be. */
export interface PacketClock {
  seconds(packet: Buffer): number;
  readonly most: number;
  /** Packets may be shorter than the most, and only their content would tell. */
  readonly isBound?: true;
}

const OPUS_MOST = 0.12;

/** Opus says the length in the first byte, or the first two (RFC 6716, 3.1). Nothing at all is a pause. */
export const opusClock: PacketClock = {
  most: OPUS_MOST,
  seconds(packet) {
    const [toc, count = 0] = packet;
    if (toc === undefined) return OPUS_MOST;
    const config = toc >>> 3;
    const milliseconds =
      (config < 12 ? [10, 20, 40, 60][config % 4] : config < 16 ? [10, 20][config % 2] : [2.5, 5, 10, 20][config % 4]) ?? 0;
    const frames = (toc & 3) === 0 ? 1 : (toc & 3) === 3 ? count & 63 : 2;
    return Math.min(OPUS_MOST, (milliseconds * frames) / 1000);
  },
};

const VORBIS_HEAD = Buffer.from('\x01vorbis', 'latin1');

/** Vorbis: half of the longer block at most; shorter ones only a decoder sees (Vorbis I, 4.2.2 and 4.3.8). */
export function vorbisClock(headers: Buffer): PacketClock | undefined {
  const at = headers.indexOf(VORBIS_HEAD);
  if (at < 0 || at + 29 > headers.length) return undefined;
  const rate = headers.readUInt32LE(at + 12);
  const most = 2 ** ((headers[at + 28] ?? 0) >>> 4) / 2 / rate;
  // Heads of the stream are odd.
  return rate > 0 ? { most, seconds: (packet) => ((packet[0] ?? 1) & 1 ? 0 : most) } : undefined;
}

const LEAST_AAC_RATE = 7_350;

/** @param config AudioSpecificConfig (ISO 14496-3, 1.6.2.1); without one, a frame of the lowest rate */
export function aacClock(config: Buffer | undefined): PacketClock {
  const rate = config && aacRate(config);
  return rate ? steadyClock(1024 / rate) : boundClock(1024 / LEAST_AAC_RATE);
}

function aacRate(config: Buffer): number | undefined {
  if (config.length < 2) return undefined;
  const head = config.readUInt16BE(0);
  const index = (head >>> 7) & 15;
  if (head >>> 11 === 31) return undefined;
  if (index < 15) return AAC_RATES[index];
  return config.length < 5 ? undefined : (config.readUInt32BE(1) >>> 7) & 0xffffff;
}

/** The longest frame: 576 samples at 8 kHz, or 1,152 at 16 kHz. */
const MPEG_MOST = 0.072;

/** A packet may have several frames: a decoder goes on behind the first. */
export const mpegClock: PacketClock = {
  most: MPEG_MOST,
  seconds: (packet) => (mpegFrame(packet, 0) ? streamOf(packet, mpegFrame).mostSeconds : MPEG_MOST),
};

/** A packet may have several frames here too. @param info STREAMINFO */
export function flacClock(info: Buffer): PacketClock | undefined {
  if (info.length < 34) return undefined;
  const stream = streamInfo(info);
  if (stream.rate === 0) return undefined;
  const most = Math.max(stream.mostBlockSamples, 1) / stream.rate;
  return { most, seconds: (packet) => flacSeconds(packet, 0, stream) };
}

/** Of a codec whose packets are all of one length. */
export const steadyClock = (seconds: number): PacketClock => ({ most: seconds, seconds: () => seconds });

/** Of a codec whose packets are of this length at most. */
export const boundClock = (most: number): PacketClock => ({ ...steadyClock(most), isBound: true });

/** Uncompressed. */
export function pcmClock(bytesPerSecond: number): PacketClock | undefined {
  return bytesPerSecond > 0 ? { most: 0, seconds: ({ length }) => length / bytesPerSecond } : undefined;
}
