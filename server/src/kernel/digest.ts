import { createHash, hash } from 'node:crypto';
import type { Soon } from './soon.ts';
import { breather } from './turn.ts';

/** What is longer is hashed in pieces of as many bytes, a millisecond each. */
const PIECE_BYTES = 1024 * 1024;

/** SHA-256 of the bytes, hex. Of many bytes it is calculated in pieces, and other work has its turn between them. */
export function sha256Of(bytes: Buffer): Soon<string> {
  return bytes.length <= PIECE_BYTES ? hash('sha256', bytes, 'hex') : inPieces(bytes);
}

async function inPieces(bytes: Buffer): Promise<string> {
  const rest = breather();
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    digest.update(bytes.subarray(at, at + PIECE_BYTES));
    await rest();
  }
  return digest.digest('hex');
}
