import type { UpstreamFault } from './port.ts';
import { retryAfterMs } from './retry-after.ts';

/** An answer that is no success, as far as it was read. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const MAX_MESSAGE_CHARACTERS = 500;
const MAX_NAME_CHARACTERS = 100;

/**
 * The statuses that speak of the request itself. 401, 403 and 404 do not: the key and the model's name are ours,
 * so it is our configuration that is wrong there, and another deployment may be right.
 */
const REQUEST_AT_FAULT = new Set([400, 413, 415, 422]);

/** @param secrets what must not come back in a message: some servers echo the credential they refuse */
export function faultOfRefusal({ status, headers, body }: Refusal, nowMs: number, secrets: readonly string[]): UpstreamFault {
  const kind = status === 429 ? 'rate_limited' : REQUEST_AT_FAULT.has(status) ? 'rejected' : 'failed';
  const { message, param, code } = wordsOf(withoutSecrets(body.toString(), secrets));
  return {
    ok: false,
    kind,
    retryable: kind !== 'rejected',
    status,
    retryAfterMs: retryAfterMs(headers, nowMs),
    message: printable(message, MAX_MESSAGE_CHARACTERS) || `The provider answered with status ${status}.`,
    param: param === null ? null : printable(param, MAX_NAME_CHARACTERS),
    code: code === null ? null : printable(code, MAX_NAME_CHARACTERS),
  };
}

/** No HTTP answer to speak of: refused connections, resets, TLS, broken protocol. */
export const faultOfConnection = (error: Error, status: number | null): UpstreamFault => failed(describe(error), status);

export const failed = (message: string, status: number | null): UpstreamFault => ({ ...NO_WORDS, kind: 'failed', status, message });

export const timedOut = (afterMs: number, status: number | null): UpstreamFault => ({
  ...NO_WORDS,
  kind: 'timeout',
  status,
  message: `The provider sent no answer within ${afterMs} ms.`,
});

/** The caller hung up: nobody is left to answer. */
export const cancelled = (status: number | null): UpstreamFault => ({
  ...NO_WORDS,
  kind: 'cancelled',
  retryable: false,
  status,
  message: 'The caller hung up before the provider answered.',
});

const NO_WORDS = { ok: false, retryable: true, retryAfterMs: null, param: null, code: null } as const;

interface Words {
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Reads OpenAI's `{ error: { message, param, code } }` and what its imitators make of it; any other text is the message. */
function wordsOf(text: string): Words {
  const document = parsed(text);
  const body: unknown = Array.isArray(document) ? document[0] : document; // Google wraps the object in a list.
  const error = isRecord(body) && 'error' in body ? body['error'] : body;
  if (typeof error === 'string') return { message: error, param: null, code: null };
  if (!isRecord(error)) return { message: text, param: null, code: null };
  const message = textIn(error['message']) ?? textIn(error['detail']) ?? text;
  return { message, param: textIn(error['param']), code: textIn(error['code']) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);

/** One bounded line: the text goes into logs and into JSON for the caller, and the provider is not ours. */
const printable = (text: string, maxCharacters: number): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, maxCharacters)
    .toWellFormed();

/** An AggregateError of all tried addresses has no message of its own, and node's errors carry the telling part in `code`. */
function describe(error: Error): string {
  const parts = error instanceof AggregateError ? error.errors.map(String) : [error.message];
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return printable(`${parts.join('; ')}${code}`, MAX_MESSAGE_CHARACTERS);
}
