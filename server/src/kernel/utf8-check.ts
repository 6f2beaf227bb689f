import { isUtf8 } from 'node:buffer';
import { breather } from './turn.ts';

const NOTHING = Buffer.alloc(0);
const PIECE_BYTES = 1024 * 1024;

/** Whether many bytes are UTF-8. Other work has its turn between the pieces. */
export async function areUtf8(bytes: Buffer): Promise<boolean> {
  const check = new Utf8Check();
  const rest = breather();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (!check.add(bytes.subarray(at, at + PIECE_BYTES))) return false;
    await rest();
  }
  return check.end();
}

/** Whether bytes are UTF-8, asked piece by piece: a character may begin in one piece and end in the next. */
export class Utf8Check {
  #begun: Buffer = NOTHING;

  /** @returns false where they cannot be, whatever follows */
  add(piece: Buffer): boolean {
    const bytes = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece]);
    const whole = bytes.length - begunBytes(bytes);
    this.#begun = whole === bytes.length ? NOTHING : Buffer.from(bytes.subarray(whole));
    return isUtf8(bytes.subarray(0, whole));
  }

  /** @returns whether the last character is whole */
  end(): boolean {
    return this.#begun.length === 0;
  }
}

/** How many bytes at the end belong to a character that has begun and may be completed. */
function begunBytes(bytes: Buffer): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return count < bytesOfCharacter(byte) ? count : 0;
  }
  return 0;
}

function bytesOfCharacter(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
