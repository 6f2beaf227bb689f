import { atLeast, type RecordingLength } from './length.ts';

const EXTENSIBLE = 0xfffe;
/** PCM, floating point, A-law and µ-law: of all others the bytes do not tell the length. */
const UNCOMPRESSED = new Set([1, 3, 6, 7]);

/** RIFF WAVE: all that follows the head of the samples, by rate, channels and width, which a decoder reads; stated byte rates are not believed. */
export function wav(bytes: Buffer): RecordingLength | undefined {
  let perSecond = Number.POSITIVE_INFINITY;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + 8;
    if (id === 'fmt ') {
      const one = bytesPerSecond(bytes.subarray(start, start + length));
      if (!one) return undefined;
      perSecond = Math.min(perSecond, one);
    }
    if (id === 'data') {
      if (!Number.isFinite(perSecond)) return undefined;
      const rest = bytes.length - start;
      // A recorder that does not know the end yet writes none, or one beyond the file's.
      const stated = length === 0 ? rest : Math.min(length, rest);
      return atLeast(stated / perSecond, rest / perSecond);
    }
    at = start + length + (length % 2);
  }
  return undefined;
}

function bytesPerSecond(format: Buffer): number | undefined {
  if (format.length < 16) return undefined;
  const stated = format.readUInt16LE(0);
  const tag = stated === EXTENSIBLE && format.length >= 26 ? format.readUInt16LE(24) : stated;
  const width = Math.ceil((format.readUInt16LE(14) || 8) / 8);
  return UNCOMPRESSED.has(tag) ? format.readUInt32LE(4) * format.readUInt16LE(2) * width : undefined;
}
