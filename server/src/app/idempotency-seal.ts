import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const INFO = 'tallygate idempotency answer v1';

const StoredAnswer = z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.base64() });

/** An answer as it is replayed. */
export interface Answer {
  readonly status: number;
  /** Lower case; those that belong to the answer itself, its content type above all. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface SealedFor {
  readonly scope: string;
  /** The client's plain `Idempotency-Key`. */
  readonly key: string;
}

/**
 * Answers can hold secrets that exist nowhere else in the clear (a plain API key), so they are encrypted (AES-256-GCM) under the
 * client's own `Idempotency-Key`, of which only a hash is stored: a copy of the table opens nothing, as long as clients use keys
 * that cannot be guessed. Bound to its scope, so that a row cannot be passed off as another caller's.
 */
export function sealAnswer({ status, headers, body }: Answer, sealedFor: SealedFor): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey(sealedFor), nonce);
  const text = JSON.stringify({ status, headers, body: body.toString('base64') });
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** @throws when the bytes were not sealed for this scope and key */
export function openAnswer(bytes: Buffer, sealedFor: SealedFor): Answer {
  const decipher = createDecipheriv('aes-256-gcm', encryptionKey(sealedFor), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  const { status, headers, body } = StoredAnswer.parse(JSON.parse(text));
  return { status, headers, body: Buffer.from(body, 'base64') };
}

const encryptionKey = ({ scope, key }: SealedFor): Uint8Array => new Uint8Array(hkdfSync('sha256', key, scope, INFO, 32));
