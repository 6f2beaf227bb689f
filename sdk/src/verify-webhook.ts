import type { WebhookEvent } from './generated/models.ts';

const PREFIX = 'whsec_';
const VERSION = 'v1';
/** As Standard Webhooks advises. */
const TOLERANCE_SECONDS = 300;
/** Two while a secret is rotated. */
const MOST_SIGNATURES = 8;

/**
 * `missing_header`: it is no delivery of Standard Webhooks. `outside_tolerance`: signed too long ago, or ahead of the clock of this machine.
 * `signature_mismatch`: not signed with the secret, or changed since. `malformed_body`: signed, and no JSON.
 */
export type WebhookVerificationCode = 'missing_header' | 'outside_tolerance' | 'signature_mismatch' | 'malformed_body';

/** A webhook that is not to be believed: answer it with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookVerificationCode;

  constructor(code: WebhookVerificationCode, message: string) {
    super(message);
    this.code = code;
  }
}

type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /** The secret of the webhook, `whsec_…`; of several, such as while one is rotated, any may have signed. */
  readonly secret: string | readonly string[];
  /** How old a delivery may be, and how far ahead of this machine’s clock. Default: five minutes. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: (() => number) | undefined;
}

/**
 * Verifies a delivery of a webhook of the format `standard` (Standard Webhooks) and returns its event. It may come more than once: `id` tells
 * one event from another.
 * @param body as it arrived: JSON that was parsed and written again has another signature
 * @throws WebhookVerificationError; TypeError for what is no secret
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderFields,
  { secret, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyWebhookOptions,
): Promise<WebhookEvent> {
  const keys = await Promise.all((typeof secret === 'string' ? [secret] : secret).map(keyOf));
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => required(headers, name));
  if (!/^\d{1,15}$/.test(timestamp ?? '') || Math.abs(now() / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('outside_tolerance', `The webhook was not signed within ${toleranceSeconds} seconds of now.`);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const given = (signatures ?? '').split(' ').slice(0, MOST_SIGNATURES).flatMap(signatureBytes);
  // All of them are compared, each in constant time: how long it takes tells nothing of which is nearly right.
  const verified = await Promise.all(keys.flatMap((key) => given.map((bytes) => crypto.subtle.verify('HMAC', key, bytes, content))));
  if (!verified.includes(true))
    throw new WebhookVerificationError('signature_mismatch', 'No signature of the webhook is by this secret over this body.');
  return eventIn(text);
}

function required(headers: HeaderFields, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : fieldOf(headers, name);
  if (value === null || value === '') throw new WebhookVerificationError('missing_header', `The webhook has no header ${name}.`);
  return value;
}

/** Of Node’s requests, whose names are in lower case, and of frameworks that keep those of the sender. */
function fieldOf(headers: Exclude<HeaderFields, Headers>, name: string): string | null {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : (value?.join(' ') ?? null);
}

function signatureBytes(signature: string): Uint8Array<ArrayBuffer>[] {
  const [version, base64 = ''] = signature.split(',');
  const bytes = version === VERSION ? bytesOf(base64) : undefined;
  return bytes ? [bytes] : [];
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  if (!bytes || bytes.length === 0) throw new TypeError('The secret of a webhook is "whsec_" and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function eventIn(text: string): WebhookEvent {
  try {
    return JSON.parse(text);
  } catch {
    throw new WebhookVerificationError('malformed_body', 'The webhook is signed and has no JSON: is its format `standard`?');
  }
}
