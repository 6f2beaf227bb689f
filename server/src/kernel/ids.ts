import { randomBytes, randomUUID } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { systemClock } from './clock.ts';

const generator = new V7Generator();
/** A clock that is set back by less leaves ids in order; as the library has it by itself. */
const ROLLBACK_MS = 10_000;

/** A UUIDv7 (RFC 9562): sorts by time of creation, monotonic within this process. */
export const newId = (): string => generator.generateOrResetCore(systemClock.now(), ROLLBACK_MS).toString();

/** `req_` and 32 hex digits of a UUIDv7. The steps of a run that began in one millisecond are shown in the order of their ids. */
export function newRequestId(): string {
  const { buffer, byteOffset, byteLength } = generator.generateOrResetCore(systemClock.now(), ROLLBACK_MS).bytes;
  return `req_${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`;
}

const REQUEST_ID = /^req_([0-9a-f]{12})[0-9a-f]{20}$/;

/** When a request id was made, epoch milliseconds. @throws RangeError for what is none */
export function timeOfRequestId(id: string): number {
  const [, time] = REQUEST_ID.exec(id) ?? [];
  if (time === undefined) throw new RangeError(`${id} is not a request id`);
  return Number.parseInt(time, 16);
}

/** What all request ids begin with, or come after, that were made at that time or later. @param ms epoch milliseconds */
export const requestIdAt = (ms: number): string => `req_${ms.toString(16).padStart(12, '0')}`;

const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** When a UUIDv7 was made, epoch milliseconds. @throws RangeError for what is none */
export function timeOfId(id: string): number {
  const [, high, low] = UUID_V7.exec(id) ?? [];
  if (high === undefined || low === undefined) throw new RangeError(`${id} is not a UUIDv7`);
  return Number.parseInt(`${high}${low}`, 16);
}

/** The least UUID of those that were made at that time. @param ms epoch milliseconds */
export function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/**
 * A UUIDv7 whose 74 random bits are all fresh. Everyone who knows the ID of a receipt may read it, so the ID has to be a capability:
 * the counter of `newId` would make neighbours guessable.
 */
export function newReceiptId(now: number = systemClock.now()): string {
  // A UUIDv4 has 74 random bits, and its variant, just where a UUIDv7 has them. Node draws its random bytes in bulk: a tenth of the cost of `randomBytes`.
  const random = randomUUID();
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

const WELL_FORMED_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;

/** Whether a caller's `X-Request-Id` may be echoed: printable, bounded, no room for header or log injection. */
export const isWellFormedRequestId = (value: string): boolean => WELL_FORMED_REQUEST_ID.test(value);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` uniform base62 characters (5.95 bits each). */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    // 248 = 4 × 62: bytes above it would favour the first characters of the alphabet.
    for (const byte of randomBytes(length * 2)) if (byte < 248 && text.length < length) text += BASE62[byte % 62];
  }
  return text;
}

/** A non-negative integer in base62, left-padded with zeros. */
export function base62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = `${BASE62[rest % 62]}${text}`;
  return text;
}
