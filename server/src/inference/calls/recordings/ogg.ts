import type { RecordingLength } from './length.ts';
import { flacClock, opusClock, type PacketClock, steadyClock, vorbisClock } from './packets.ts';

const CAPTURE = Buffer.from('OggS');
const HEAD_BYTES = 27;
const MOST_PAGE_BYTES = 65_307;
const MOST_READINGS = 2;
/** As much of a packet as tells its length. */
const PACKET_HEAD_BYTES = 64;

interface LogicalStream {
  readonly clock: PacketClock | undefined;
  /** Granules a second: 0 where they tell no time. */
  readonly rate: number;
  readonly hasShortBlocks: boolean;
  seconds: number;
  /** The packet that goes on in the next page, as far as it is needed. */
  open: Buffer | undefined;
  first: number | undefined;
  last: number;
}

/**
 * Ogg (RFC 3533) with Opus, Vorbis, FLAC or Speex: all packets of all streams, one after the other, as chained files have them. Where a
 * page is damaged some decoders take it as it is and others look for the next one inside it, so that both are counted.
 */
export function ogg(bytes: Buffer): RecordingLength | undefined {
  const streams: LogicalStream[] = [];
  const bySerial = new Map<number, LogicalStream>();
  let read = 0;
  for (let at = 0; at >= 0 && at + HEAD_BYTES <= bytes.length; ) {
    const segments = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + (bytes[at + 26] ?? 0));
    const start = at + HEAD_BYTES + segments.length;
    const end = start + segments.reduce((sum, length) => sum + length, 0);
    read += end - at;
    // Pages that claim to lie in one another, again and again, are made to be slow.
    if (read > MOST_READINGS * bytes.length + MOST_PAGE_BYTES) return undefined;
    const serial = bytes.readUInt32LE(at + 14);
    if ((bytes[at + 5] ?? 0) & 2) {
      const stream = streamOf(bytes.subarray(start, Math.min(end, bytes.length)));
      streams.push(stream);
      bySerial.set(serial, stream);
    }
    const stream = bySerial.get(serial);
    if (stream) addPage(stream, bytes.subarray(start, end), segments, bytes.readBigInt64LE(at + 6));
    at = bytes.indexOf(CAPTURE, isWhole(bytes.subarray(at, end)) ? end : at + CAPTURE.length);
  }
  if (streams.length === 0 || streams.some(({ clock }) => !clock)) return undefined;
  const sum = (of: (stream: LogicalStream) => number) => streams.reduce((total, stream) => total + of(stream), 0);
  return { seconds: sum(decoded), mostSeconds: sum(most) };
}

const claimed = ({ first, last, rate }: LogicalStream): number => (rate > 0 && first !== undefined ? Math.max(0, last - first) / rate : 0);

/** Of blocks that may be short (Vorbis) granules tell the sum, as long as it can be one. */
const decoded = (stream: LogicalStream): number => {
  const span = claimed(stream);
  return stream.hasShortBlocks && span > stream.seconds / 4 ? Math.min(stream.seconds, span) : stream.seconds;
};

/** A stream may begin late, and its first page is before the first granule. */
function most(stream: LogicalStream): number {
  const span = claimed(stream);
  return span > stream.seconds + (stream.clock?.most ?? 0) ? span + stream.seconds : stream.seconds;
}

function addPage(stream: LogicalStream, content: Buffer, segments: Buffer, granule: bigint): void {
  let at = 0;
  let length = 0;
  for (const segment of segments) {
    length += segment;
    if (segment === 255) continue;
    addPacket(stream, content.subarray(at, at + length));
    at += length;
    length = 0;
  }
  if (length > 0) stream.open = joined(stream.open, content.subarray(at));
  if (granule < 0n) return;
  stream.first ??= Number(granule);
  stream.last = Math.max(stream.last, Number(granule));
}

function addPacket(stream: LogicalStream, end: Buffer): void {
  const packet = joined(stream.open, end);
  stream.open = undefined;
  if (!isHead(packet)) stream.seconds += stream.clock?.seconds(packet) ?? 0;
}

const joined = (before: Buffer | undefined, more: Buffer): Buffer =>
  before ? Buffer.concat([before, more]).subarray(0, PACKET_HEAD_BYTES) : more;

const isHead = (packet: Buffer): boolean => /^(Opus(Head|Tags)|Speex {3}|\x7fFLAC)/.test(packet.toString('latin1', 0, 8));

function streamOf(head: Buffer): LogicalStream {
  const blank = { seconds: 0, open: undefined, first: undefined, last: 0, hasShortBlocks: false };
  const name = head.toString('latin1', 0, 8);
  if (name === 'OpusHead') return { ...blank, clock: opusClock, rate: 48_000 };
  if (name.startsWith('\x01vorbis'))
    return { ...blank, clock: vorbisClock(head), rate: head.length > 16 ? head.readUInt32LE(12) : 0, hasShortBlocks: true };
  if (name.startsWith('\x7fFLAC') && head.length >= 51) {
    const info = head.subarray(17, 51);
    return { ...blank, clock: flacClock(info), rate: info.readUIntBE(10, 3) >>> 4 };
  }
  if (name === 'Speex   ' && head.length >= 68) {
    const rate = head.readUInt32LE(36);
    const perPacket = Math.max(1, head.readUInt32LE(64));
    return { ...blank, clock: steadyClock(perPacket * Math.max(0.02, rate > 0 ? head.readUInt32LE(56) / rate : 0)), rate };
  }
  // Skeletons and pictures have no sound.
  if (/^(fishead|\x80theora|BBCD)/.test(name)) return { ...blank, clock: steadyClock(0), rate: 0 };
  return { ...blank, clock: undefined, rate: 0 };
}

/** The checksum of a page (RFC 3533, 6): CRC-32 without reflection, over the page with four zeros in its place. */
function isWhole(page: Buffer): boolean {
  let crc = 0;
  for (const [at, byte] of page.entries()) crc = (crc << 8) ^ (CRC_TABLE[(crc >>> 24) ^ (at >= 22 && at < 26 ? 0 : byte)] ?? 0);
  return crc >>> 0 === page.readUInt32LE(22);
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});
