import { atLeast, type RecordingLength } from './length.ts';
import { aacClock, flacClock, mpegClock, opusClock, type PacketClock, pcmClock, steadyClock, vorbisClock } from './packets.ts';

/** Elements that are read (RFC 9559). */
const ID = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  audio: 0xe1,
  sampling: 0xb5,
  channels: 0x9f,
  bitDepth: 0x6264,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
} as const;
const CONTAINERS = new Set<number>([ID.segment, ID.info, ID.tracks, ID.cluster, ID.blockGroup]);
const CLUSTER = Buffer.from('1f43b675', 'hex');
const AUDIO = 2;

interface Track {
  /** Undefined where it is encoded in a way of its own, so that packets cannot be looked into. */
  readonly clock: PacketClock;
  readonly isOpaque: boolean;
  seconds: number;
}

interface Reading {
  /** By number; null for those without sound. */
  readonly tracks: Map<number, Track | null>;
  /** Nanoseconds. */
  scale: number;
  /** In units of the scale. */
  claimed: number;
  cluster: number;
  first: number | undefined;
  last: number;
  isUnreadable: boolean;
}

/** WebM and Matroska: every block of every audio track; the longest track, and what timestamps claim. */
export function matroska(bytes: Buffer): RecordingLength | undefined {
  const reading: Reading = { tracks: new Map(), scale: 1e6, claimed: 0, cluster: 0, first: undefined, last: 0, isUnreadable: false };
  read(bytes, 0, reading);
  const sounding = [...reading.tracks.values()].filter((track) => track !== null);
  if (reading.isUnreadable || sounding.length === 0) return undefined;
  const scale = reading.scale / 1e9;
  const span = reading.last - (reading.first ?? reading.last);
  return atLeast(Math.max(...sounding.map(({ seconds }) => seconds)), reading.claimed * scale, span * scale);
}

/** Containers are gone into and not over, so that it does not matter where they say that they end. */
function read(bytes: Buffer, from: number, reading: Reading): void {
  for (let at = from; at < bytes.length; ) {
    const id = elementId(bytes, at);
    const size = id && elementSize(bytes, at + id.length);
    if (!id || !size) {
      // Decoders look for the next cluster behind what they cannot read.
      const next = bytes.indexOf(CLUSTER, at + 1);
      if (next < 0) return;
      at = next;
      continue;
    }
    const start = at + id.length + size.length;
    if (CONTAINERS.has(id.value)) {
      at = start;
      continue;
    }
    const end = Math.min(bytes.length, start + size.value);
    readElement(id.value, bytes.subarray(start, end), reading);
    at = end;
  }
}

function readElement(id: number, content: Buffer, reading: Reading): void {
  switch (id) {
    case ID.timestampScale:
      reading.scale = Math.max(reading.scale, number(content));
      return;
    case ID.duration:
      reading.claimed = Math.max(reading.claimed, float(content));
      return;
    case ID.timestamp:
      reading.cluster = number(content);
      return;
    case ID.trackEntry:
      addTrack(content, reading);
      return;
    case ID.simpleBlock:
    case ID.block:
      addBlock(content, reading);
      return;
    default:
  }
}

function addTrack(entry: Buffer, reading: Reading): void {
  const fields = childrenOf(entry);
  const trackNumber = number(fields.get(ID.trackNumber) ?? Buffer.alloc(0));
  if (number(fields.get(ID.trackType) ?? Buffer.alloc(0)) !== AUDIO) {
    reading.tracks.set(trackNumber, null);
    return;
  }
  const clock = clockOf(fields);
  if (clock && !reading.tracks.has(trackNumber))
    reading.tracks.set(trackNumber, { clock, isOpaque: fields.has(ID.contentEncodings), seconds: 0 });
  else reading.isUnreadable = true;
}

function clockOf(fields: ReadonlyMap<number, Buffer>): PacketClock | undefined {
  const codec = (fields.get(ID.codecId) ?? Buffer.alloc(0)).toString('latin1').replace(/\0+$/, '');
  const setup = fields.get(ID.codecPrivate);
  if (codec === 'A_OPUS') return opusClock;
  if (codec === 'A_VORBIS') return setup && vorbisClock(setup);
  if (codec.startsWith('A_AAC')) return aacClock(setup);
  if (codec.startsWith('A_MPEG/L')) return mpegClock;
  if (codec === 'A_FLAC') return setup && flacClock(setup.subarray(8));
  if (/^A_E?AC3/.test(codec)) return steadyClock(0.048);
  if (!codec.startsWith('A_PCM/')) return undefined;
  const audio = childrenOf(fields.get(ID.audio) ?? Buffer.alloc(0));
  const width = Math.ceil(number(audio.get(ID.bitDepth) ?? Buffer.of(16)) / 8);
  return pcmClock(float(audio.get(ID.sampling) ?? Buffer.alloc(0)) * number(audio.get(ID.channels) ?? Buffer.of(1)) * width);
}

/** Several frames may be in one block; those are held at the longest that one can be. */
function addBlock(block: Buffer, reading: Reading): void {
  const track = elementSize(block, 0);
  if (!track || block.length < track.length + 3) return;
  const time = reading.cluster + block.readInt16BE(track.length);
  reading.first = Math.min(reading.first ?? time, time);
  reading.last = Math.max(reading.last, time);
  const sounding = reading.tracks.get(track.value);
  if (sounding === undefined) reading.isUnreadable = true;
  if (!sounding) return;
  const content = block.subarray(track.length + 3);
  const isLaced = ((block[track.length + 2] ?? 0) & 6) !== 0;
  const { clock, isOpaque } = sounding;
  const frames = isLaced ? (content[0] ?? 0) + 1 : 1;
  // Uncompressed sound is as long as its bytes, in one frame or several.
  sounding.seconds += isOpaque || (isLaced && clock.most > 0) ? frames * clock.most : clock.seconds(content);
}

/** The elements directly inside; of those that are there several times, the last. */
function childrenOf(parent: Buffer): Map<number, Buffer> {
  const children = new Map<number, Buffer>();
  for (let at = 0; at < parent.length; ) {
    const id = elementId(parent, at);
    const size = id && elementSize(parent, at + id.length);
    if (!id || !size) break;
    const start = at + id.length + size.length;
    children.set(id.value, parent.subarray(start, start + size.value));
    at = start + size.value;
  }
  return children;
}

interface Coded {
  readonly value: number;
  /** Of the code itself, bytes. */
  readonly length: number;
}

function elementId(bytes: Buffer, at: number): Coded | undefined {
  const length = Math.clz32((bytes[at] ?? 0) << 24) + 1;
  return length > 4 || at + length > bytes.length ? undefined : { value: bytes.readUIntBE(at, length), length };
}

/** All ones: as far as it goes. */
function elementSize(bytes: Buffer, at: number): Coded | undefined {
  const length = Math.clz32((bytes[at] ?? 0) << 24) + 1;
  if (length > 8 || at + length > bytes.length) return undefined;
  let value = (bytes[at] ?? 0) & (0xff >>> length);
  let isUnknown = value === 0xff >>> length;
  for (let next = at + 1; next < at + length; next += 1) {
    value = value * 256 + (bytes[next] ?? 0);
    isUnknown &&= bytes[next] === 0xff;
  }
  return { value: isUnknown ? bytes.length : value, length };
}

const number = (content: Buffer): number => content.reduce((value, byte) => value * 256 + byte, 0);
const float = (content: Buffer): number =>
  content.length === 8 ? content.readDoubleBE() : content.length === 4 ? content.readFloatBE() : 0;
