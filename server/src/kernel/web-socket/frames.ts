import { randomFillSync } from 'node:crypto';

/** What a frame is (RFC 6455, 5.2). */
export const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xa];
export const MASK_BYTES = 4;

/** @param first bytes of the frame that were masked before */
export function mask(bytes: Buffer, key: Buffer, first = 0): void {
  const turned = [0, 1, 2, 3].map((at) => key[(first + at) % MASK_BYTES] ?? 0) as [number, number, number, number];
  const [a, b, c, d] = turned;
  const fours = bytes.length - (bytes.length % MASK_BYTES);
  for (let at = 0; at < fours; at += MASK_BYTES) {
    bytes[at] = (bytes[at] as number) ^ a;
    bytes[at + 1] = (bytes[at + 1] as number) ^ b;
    bytes[at + 2] = (bytes[at + 2] as number) ^ c;
    bytes[at + 3] = (bytes[at + 3] as number) ^ d;
  }
  for (let at = fours; at < bytes.length; at += 1) bytes[at] = (bytes[at] as number) ^ (turned[at % MASK_BYTES] as number);
}

const [SHORT_LENGTH, LENGTH_IN_2, LENGTH_IN_8] = [125, 126, 127];

/** The head of an unfragmented frame. @param key of the mask, which clients have to use and servers must not */
export function headOf(opcode: number, length: number, key: Buffer | undefined): Buffer {
  const sizeBytes = length <= SHORT_LENGTH ? 0 : length <= 0xffff ? 2 : 8;
  const head = Buffer.alloc(2 + sizeBytes + (key ? MASK_BYTES : 0));
  head[0] = 0x80 | opcode;
  head[1] = (key ? 0x80 : 0) | (sizeBytes === 0 ? length : sizeBytes === 2 ? LENGTH_IN_2 : LENGTH_IN_8);
  if (sizeBytes === 2) head.writeUInt16BE(length, 2);
  if (sizeBytes === 8) head.writeBigUInt64BE(BigInt(length), 2);
  key?.copy(head, 2 + sizeBytes);
  return head;
}

export const newMask = (): Buffer => randomFillSync(Buffer.allocUnsafe(MASK_BYTES));

/** A frame in whole. */
export function frameOf(opcode: number, payload: Buffer, key: Buffer | undefined): Buffer {
  const head = headOf(opcode, payload.length, key);
  const frame = Buffer.concat([head, payload]);
  if (key) mask(frame.subarray(head.length), key);
  return frame;
}

/** How long the payload is, and where it is said: in the second byte, or behind it. */
export function lengthField(second: number): { readonly short: number; readonly moreBytes: 0 | 2 | 8 } {
  const short = second & 0x7f;
  return { short, moreBytes: short === LENGTH_IN_2 ? 2 : short === LENGTH_IN_8 ? 8 : 0 };
}
