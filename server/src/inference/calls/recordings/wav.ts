import { atLeast, type RecordingLength } from './length.ts';

const EXTENSIBLE = 0xfffe;
/** PCM, floating point, A-law and µ-law: of all others the bytes do not tell the length. */
const UNCOMPRESSED = new Set([1, 3, 6, 7]);
/** A-law and µ-law: of a byte a sample, whatever the head says. */
const OF_ONE_BYTE = new Set([6, 7]);

/** Wider samples are none that anybody decodes. */
const WIDEST_BITS = 64;

/** What a second takes: as a decoder reads it by rate, channels and width, and the least that the head says in another place. */
interface ByteRates {
  readonly read: number;
  readonly least: number;
}

/** RIFF WAVE: all that follows the head of the samples. Stated rates of blocks and bytes are believed where they make it longer. */
export function wav(bytes: Buffer): RecordingLength | undefined {
  let perSecond: ByteRates = { read: Number.POSITIVE_INFINITY, least: Number.POSITIVE_INFINITY };
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + 8;
    if (id === 'fmt ') {
      const one = bytesPerSecond(bytes.subarray(start, start + length));
      if (!one) return undefined;
      perSecond = { read: Math.min(perSecond.read, one.read), least: Math.min(perSecond.least, one.least) };
    }
    if (id === 'data') {
      if (!Number.isFinite(perSecond.read)) return undefined;
      const rest = bytes.length - start;
      // A recorder that does not know the end yet writes none, or one beyond the file's.
      const stated = length === 0 ? rest : Math.min(length, rest);
      return atLeast(stated / perSecond.read, rest / perSecond.least);
    }
    at = start + length + (length % 2);
  }
  return undefined;
}

function bytesPerSecond(format: Buffer): ByteRates | undefined {
  if (format.length < 16) return undefined;
  const stated = format.readUInt16LE(0);
  const tag = stated === EXTENSIBLE && format.length >= 26 ? format.readUInt16LE(24) : stated;
  const bits = OF_ONE_BYTE.has(tag) ? 8 : format.readUInt16LE(14) || 8;
  const [rate, channels] = [format.readUInt32LE(4), format.readUInt16LE(2)];
  const read = rate * channels * Math.ceil(bits / 8);
  if (!UNCOMPRESSED.has(tag) || bits > WIDEST_BITS || read === 0) return undefined;
  // Some decoders read samples of as many bits as count, and not of as many as they take.
  const valid = stated === EXTENSIBLE ? Math.ceil(format.readUInt16LE(18) / 8) : 0;
  const claims = [format.readUInt32LE(8), rate * format.readUInt16LE(12), rate * channels * valid].filter((claimed) => claimed > 0);
  return { read, least: Math.min(read, ...claims) };
}
