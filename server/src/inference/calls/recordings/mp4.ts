import type { RecordingLength } from './length.ts';
import { aacClock, boundClock, flacClock, type PacketClock, steadyClock } from './packets.ts';

/** Boxes that have boxes in them (ISO 14496-12). */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts', 'moof', 'traf', 'mvex']);

interface Track {
  isSound: boolean;
  /** Units a second. */
  timescale: number;
  /** Sums of what is claimed, in units of the track. */
  claimed: number;
  /** Of edits, which may play a part again, in units of the movie. */
  edited: number;
  packets: number;
  clock: PacketClock | undefined;
}

interface Reading {
  readonly tracks: Track[];
  /** By id, for fragments. */
  readonly byId: Map<number, Track>;
  /** Units a second of the movie, and what it claims in them. */
  timescale: number;
  claimed: number;
  track: Track | undefined;
}

/** MP4, M4A and QuickTime: all packets of an audio track by its codec; its sample table and edits, and what headers claim. */
export function mp4(bytes: Buffer): RecordingLength | undefined {
  const reading: Reading = { tracks: [], byId: new Map(), timescale: 0, claimed: 0, track: undefined };
  readBoxes(bytes, reading);
  const lengths = reading.tracks.filter(({ isSound }) => isSound).map((track) => lengthOf(track, reading));
  if (lengths.length === 0 || lengths.some((length) => !length)) return undefined;
  const known = lengths.filter((length) => length !== undefined);
  return {
    seconds: Math.max(...known.map(({ seconds }) => seconds)),
    mostSeconds: Math.max(...known.map(({ mostSeconds }) => mostSeconds)),
  };
}

function lengthOf({ clock, packets, claimed, timescale, edited }: Track, movie: Reading): RecordingLength | undefined {
  if (!clock) return undefined;
  const held = packets * clock.most;
  const told = timescale > 0 ? claimed / timescale : 0;
  const played = movie.timescale > 0 ? Math.max(edited, movie.claimed) / movie.timescale : 0;
  // Of packets that may be shorter than the longest, the table tells the sum, as long as it can be one.
  return { seconds: clock.isBound && told > held / 8 ? Math.min(held, told) : held, mostSeconds: Math.max(held, told, played) };
}

function readBoxes(bytes: Buffer, reading: Reading): void {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const small = bytes.readUInt32BE(at);
    const head = small === 1 ? 16 : 8;
    const size = small === 0 ? bytes.length - at : small === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : small;
    if (size < head) return;
    const content = bytes.subarray(at + head, at + size);
    readBox(bytes.toString('latin1', at + 4, at + 8), content, reading);
    at += size;
  }
}

function readBox(type: string, content: Buffer, reading: Reading): void {
  if (type === 'trak') {
    reading.track = { isSound: false, timescale: 0, claimed: 0, edited: 0, packets: 0, clock: undefined };
    reading.tracks.push(reading.track);
  }
  if (CONTAINERS.has(type)) {
    readBoxes(content, reading);
    return;
  }
  OF_MOVIE[type]?.(content, reading);
  if (reading.track) OF_TRACK[type]?.(content, reading.track);
  // Which of the tracks the fragment is of.
  if (type === 'tfhd') reading.track = reading.byId.get(content.readUInt32BE(4));
}

/** Fields after the times are further back in the long form of a box. */
const isLong = (content: Buffer): boolean => content[0] === 1;

const OF_MOVIE: Readonly<Record<string, (content: Buffer, reading: Reading) => void>> = {
  mvhd: (content, reading) => {
    reading.timescale = content.readUInt32BE(isLong(content) ? 20 : 12);
    reading.claimed = Math.max(reading.claimed, lengthAt(content, isLong(content) ? 24 : 16, isLong(content)));
  },
  mehd: (content, reading) => {
    reading.claimed = Math.max(reading.claimed, lengthAt(content, 4, isLong(content)));
  },
  tkhd: (content, { track, byId }) => {
    if (track) byId.set(content.readUInt32BE(isLong(content) ? 20 : 12), track);
  },
};

const addPackets = (content: Buffer, track: Track): void => {
  track.packets += content.readUInt32BE(8);
};

const OF_TRACK: Readonly<Record<string, (content: Buffer, track: Track) => void>> = {
  mdhd: (content, track) => {
    track.timescale = content.readUInt32BE(isLong(content) ? 20 : 12);
    track.claimed = Math.max(track.claimed, lengthAt(content, isLong(content) ? 24 : 16, isLong(content)));
  },
  hdlr: (content, track) => {
    // QuickTime has another one, for the data.
    if (content.toString('latin1', 8, 12) === 'soun') track.isSound = true;
  },
  stsd: (content, track) => {
    track.clock = longer(track.clock, clockOf(content));
  },
  stsz: addPackets,
  stz2: addPackets,
  stts: (content, track) => {
    track.claimed = Math.max(track.claimed, timesOf(content));
  },
  elst: (content, track) => {
    track.edited += editsOf(content, isLong(content));
  },
  trun: (content, track) => addRun(track, content),
};

/** All ones: not known. */
function lengthAt(content: Buffer, at: number, isLong: boolean): number {
  const value = isLong ? Number(content.readBigUInt64BE(at)) : content.readUInt32BE(at);
  return value >= (isLong ? 2 ** 63 : 0xffffffff) ? 0 : value;
}

function timesOf(content: Buffer): number {
  let sum = 0;
  for (let at = 8; at + 8 <= content.length; at += 8) sum += content.readUInt32BE(at) * content.readUInt32BE(at + 4);
  return sum;
}

function editsOf(content: Buffer, isLong: boolean): number {
  let sum = 0;
  for (let at = 8; at + (isLong ? 20 : 12) <= content.length; at += isLong ? 20 : 12) sum += lengthAt(content, at, isLong);
  return sum;
}

/** A run of a fragment: its packets, with a time for each where it tells them. */
function addRun(track: Track, content: Buffer): void {
  const flags = content.readUIntBE(1, 3);
  const count = content.readUInt32BE(4);
  track.packets += count;
  const width = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length * 4;
  if (!(flags & 0x100)) return;
  let at = 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  for (; at + width <= content.length; at += width) track.claimed += content.readUInt32BE(at);
}

/** Of several descriptions, the one with the longest packets. */
const longer = (one: PacketClock | undefined, other: PacketClock | undefined): PacketClock | undefined =>
  one && other && one.most > other.most ? one : other;

const OPUS_MOST = 0.12;
const MPEG_MOST = 0.072;
const AC3_SECONDS = 0.048;
const AMR_SECONDS = 0.02;

/** The first description of a sample table; undefined for codecs whose packets may be of any length. */
function clockOf(content: Buffer): PacketClock | undefined {
  const entry = content.subarray(8);
  if (entry.length < 36) return undefined;
  const codec = entry.toString('latin1', 4, 8);
  const rate = entry.readUInt32BE(32) >>> 16;
  switch (codec) {
    case 'mp4a':
      return aacOrMpeg(entry);
    case 'Opus':
      return boundClock(OPUS_MOST);
    case '.mp3':
      return boundClock(MPEG_MOST);
    case 'ac-3':
    case 'ec-3':
      return steadyClock(AC3_SECONDS);
    case 'fLaC':
      return flacIn(entry);
    case 'alac':
      return alacIn(entry);
    case 'samr':
    case 'sawb': {
      const at = entry.indexOf('damr', 0, 'latin1');
      return steadyClock(AMR_SECONDS * (at >= 0 ? Math.max(1, entry.readUInt8(at + 12)) : 255));
    }
    case 'sowt':
    case 'twos':
    case 'ulaw':
    case 'alaw':
      // Packets are samples here.
      return rate > 0 ? steadyClock(1 / rate) : undefined;
    default:
      return undefined;
  }
}

/** The elementary stream descriptor (ISO 14496-1, 7.2.6.5) tells which of them it is, and the setup of AAC. */
function aacOrMpeg(entry: Buffer): PacketClock | undefined {
  const at = entry.indexOf('esds', 0, 'latin1');
  if (at < 0) return undefined;
  const setup = descriptor(entry, at + 8, 4);
  const kind = setup === undefined ? undefined : entry[setup];
  if (setup === undefined || kind === undefined) return undefined;
  if (kind >= 0x69 && kind <= 0x6b) return boundClock(MPEG_MOST);
  if (kind !== 0x40 && (kind < 0x66 || kind > 0x68)) return undefined;
  const config = descriptor(entry, setup + 13, 5);
  return aacClock(config === undefined ? undefined : entry.subarray(config));
}

/** Where the content of the descriptor with that tag begins. */
function descriptor(bytes: Buffer, from: number, tag: number): number | undefined {
  let at = from;
  while (at + 2 <= bytes.length) {
    const found = bytes[at];
    at += 1;
    for (let more = true; more && at < bytes.length; at += 1) more = (bytes[at] ?? 0) >= 128;
    if (found === tag) return at;
    if (found !== 3) return undefined;
    const flags = bytes[at + 2] ?? 0;
    at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (bytes[at + 3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
  }
  return undefined;
}

function flacIn(entry: Buffer): PacketClock | undefined {
  const at = entry.indexOf('dfLa', 0, 'latin1');
  const clock = at < 0 ? undefined : flacClock(entry.subarray(at + 12));
  return clock && boundClock(clock.most);
}

function alacIn(entry: Buffer): PacketClock | undefined {
  const at = entry.indexOf('alac', 36, 'latin1');
  if (at < 0 || at + 32 > entry.length) return undefined;
  const rate = entry.readUInt32BE(at + 28);
  return rate > 0 ? boundClock(entry.readUInt32BE(at + 8) / rate) : undefined;
}
