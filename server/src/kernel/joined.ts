import { GrowingBuffer } from './growing-buffer.ts';
import type { Soon } from './soon.ts';
import { breather } from './turn.ts';

/** What is longer is copied in pieces of so many bytes. */
const PIECE_BYTES = 1024 * 1024;

/** The pieces as one. Copying many megabytes takes long: other work has its turn meanwhile. One piece is not copied. */
export function joined(pieces: readonly Buffer[]): Soon<Buffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first) return first;
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return bytes <= PIECE_BYTES ? Buffer.concat(pieces, bytes) : joinedInTurns(pieces, bytes);
}

async function joinedInTurns(pieces: readonly Buffer[], bytes: number): Promise<Buffer> {
  const rest = breather();
  const whole = new GrowingBuffer(bytes);
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += PIECE_BYTES) {
      whole.add(piece.subarray(at, at + PIECE_BYTES));
      await rest();
    }
  return whole.take();
}
