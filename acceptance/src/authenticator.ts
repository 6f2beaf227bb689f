import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

/** What an authenticator app shows for the secret of an otpauth link (RFC 6238: SHA-1, six digits, thirty seconds). */
export function authenticatorCode(otpauthUri: string, nowMs = Date.now()): string {
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
  const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(nowMs / STEP_MS)));
  const mac = createHmac('sha1', key).update(step).digest();
  const code = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, '0');
}
