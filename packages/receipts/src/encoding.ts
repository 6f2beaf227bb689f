/**
 * Hex, base64 and base64url with exactly one spelling for every byte string. A lenient decoder would let the same signature
 * appear under many texts, and two readers disagree on whether two receipts are the same.
 */

const HEX = /^(?:[0-9a-f]{2})*$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** Undefined for anything but lower-case hex of whole bytes and, where `length` is given, of that many bytes. */
export function fromHex(text: string, length?: number): Uint8Array | undefined {
  if (!HEX.test(text) || (length !== undefined && text.length !== length * 2)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(at * 2, at * 2 + 2), 16));
}

/** Base64url without padding (RFC 4648, section 5; RFC 7515, section 2). */
export function toBase64url(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += ALPHABET[(held >> (bits - 6)) & 63];
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(held << (6 - bits)) & 63] : text;
}

/**
 * Undefined for padding, for any other alphabet, for trailing bits that are not zero (RFC 4648, section 3.5) and, where
 * `length` is given, for any other number of bytes.
 */
export function fromBase64url(text: string, length?: number): Uint8Array | undefined {
  if (!BASE64URL.test(text) || text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  if (length !== undefined && bytes.length !== length) return undefined;
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    held = (held << 6) | ALPHABET.indexOf(letter);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
      held &= (1 << bits) - 1;
    }
  }
  return held === 0 ? bytes : undefined;
}

/** Base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  const text = toBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** Undefined where padding is missing or too much, and wherever {@link fromBase64url} is. */
export function fromBase64(text: string, length?: number): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  return fromBase64url(text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'), length);
}

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export const utf8 = (text: string): Uint8Array => encoder.encode(text);
