import type { ReceivedFile } from './operation.ts';

/** As much of a file as its header may take. */
const HEAD_BYTES = 64 * 1024;
/** Speech codecs can go down to a few hundred bytes a second; below that nobody understands a word. */
const LEAST_BYTES_PER_SECOND = 250;
/** MPEG audio has no lower bit rate than 8 kbit/s. */
const LEAST_MP3_BYTES_PER_SECOND = 1_000;

/**
 * The most seconds that a recording can last. Of uncompressed audio the header says how many bytes make a second, and a decoder goes by the
 * same fields; of everything else only the size is taken, since a header that lies would make the hold too small.
 */
export async function mostSecondsOf(file: ReceivedFile): Promise<number> {
  const head = await headOf(file);
  const perSecond = wavBytesPerSecond(head) ?? (isMp3(head) ? LEAST_MP3_BYTES_PER_SECOND : LEAST_BYTES_PER_SECOND);
  return Math.max(1, Math.ceil(file.bytes / perSecond));
}

async function headOf(file: ReceivedFile): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of file.open()) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= HEAD_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, HEAD_BYTES);
}

/** RIFF WAVE: from rate, channels and width, which a decoder reads; the stated byte rate is not believed. */
function wavBytesPerSecond(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  const at = head.indexOf('fmt ');
  if (at < 0 || at + 24 > head.length) return undefined;
  const isPcm = head.readUInt16LE(at + 8) === 1 || head.readUInt16LE(at + 8) === 0xfffe;
  const perSecond = head.readUInt32LE(at + 12) * head.readUInt16LE(at + 10) * Math.ceil(head.readUInt16LE(at + 22) / 8);
  return isPcm && perSecond >= LEAST_BYTES_PER_SECOND ? perSecond : undefined;
}

/** A frame's sync bits, or an ID3 tag before them. */
const isMp3 = (head: Buffer): boolean =>
  head.toString('latin1', 0, 3) === 'ID3' || (head.length > 1 && head[0] === 0xff && ((head[1] ?? 0) & 0xe6) === 0xe2);
