import { isRecord, jsonIn } from './json-value.ts';
import type { UpstreamFault } from './port.ts';
import { retryAfterMs } from './retry-after.ts';

/** An answer that is no success, as far as it was read. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The first header of that name, which is in lower case. */
export function headerIn(headers: Refusal['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

export const MAX_MESSAGE_CHARACTERS = 500;
const MAX_NAME_CHARACTERS = 100;

/**
 * The statuses that speak of the request itself. 401, 403 and 404 do not: the key and the model's name are ours,
 * so it is our configuration that is wrong there, and another deployment may be right.
 */
const REQUEST_AT_FAULT = new Set([400, 413, 415, 422]);

/** What a provider says about its refusal, in the terms of OpenAI's error object. */
export interface Words {
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly type?: string | null | undefined;
  /** Where the status says otherwise: whether the request is to blame, or our side of the contract (its key, its funds). */
  readonly blames?: 'request' | 'gateway' | undefined;
  /** When to ask again, milliseconds, where the body says it and no header does. */
  readonly retryAfterMs?: number | undefined;
  /** As of an {@link UpstreamFault}. */
  readonly usage?: unknown;
}

/** A proxy got no answer in time from the provider behind it; 524 is Cloudflare's. */
const PROXY_TIMED_OUT = new Set([504, 524]);

export interface RefusalReader {
  /** For `Retry-After` dates. */
  readonly nowMs: number;
  /** What must not come back in a message: some servers echo the credential they refuse. */
  readonly secrets: readonly string[];
  /** Reads the words out of a body that may be anything. */
  readonly wordsOf: (text: string, headers: Refusal['headers']) => Words;
}

export function faultOfRefusal({ status, headers, body }: Refusal, { nowMs, secrets, wordsOf }: RefusalReader): UpstreamFault {
  const text = withoutSecrets(body.toString(), secrets);
  const { message, param, code, type = null, blames = blamedBy(status), retryAfterMs: toldMs = null, usage } = wordsOf(text, headers);
  const kind = status === 429 ? 'rate_limited' : blames === 'request' ? 'rejected' : 'failed';
  return {
    ok: false,
    kind,
    retryable: kind !== 'rejected',
    status,
    retryAfterMs: retryAfterMs(headers, nowMs) ?? toldMs,
    message: printable(message, MAX_MESSAGE_CHARACTERS) || `The provider answered with status ${status}.`,
    isQuoted: true,
    param: param === null ? null : printable(param, MAX_NAME_CHARACTERS),
    code: code === null ? null : printable(code, MAX_NAME_CHARACTERS),
    type: type === null ? null : printable(type, MAX_NAME_CHARACTERS),
    ...(isRecord(usage) && { usage }),
    ...(status >= 500 && isMade(text) && { begun: { bytes: body } }),
    // Google says the same with the status 504 and an error of its own: that is the provider's word, and it bills no errors.
    ...(PROXY_TIMED_OUT.has(status) && !namesError(text) && { mayBeAtWork: true }),
  };
}

/** What was asked for, in place of an error: its server failed behind the work, which may be billed. */
function isMade(text: string): boolean {
  const said = jsonIn(text);
  return isRecord(said) && typeof said['id'] === 'string' && typeof said['object'] === 'string' && !('error' in said && said['error']);
}

function namesError(text: string): boolean {
  const said = jsonIn(text);
  const body = Array.isArray(said) ? said[0] : said;
  return isRecord(body) && isRecord(body['error']);
}

/**
 * The request asks for what the provider cannot do, and leaving that out would change what it means. Thrown where a translation finds it,
 * deep in a request; the adapter answers with the fault.
 */
export class Untranslatable extends Error {
  /** The field of the caller's request. */
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.name = 'Untranslatable';
    this.param = param;
  }

  get fault(): UpstreamFault {
    const { message, param } = this;
    // Another provider of the model may well understand it.
    return { ...NO_WORDS, kind: 'rejected', retryable: true, status: null, message, param, code: 'unsupported_parameter' };
  }
}

/** What a translation, or writing down what came of it, has thrown. @throws what is no fault of the request */
export function faultOfTranslation(error: unknown): UpstreamFault {
  if (error instanceof Untranslatable) return error.fault;
  // The arguments of a tool call are JSON in a text, whose depth nobody has looked at before.
  if (error instanceof RangeError) return new Untranslatable('messages', 'The arguments of a tool call are nested too deep.').fault;
  throw error;
}

/**
 * No HTTP answer to speak of: refused connections, resets, TLS, broken protocol.
 * @param wasSent whether the provider has the whole request
 */
export const faultOfConnection = (error: Error, { status, wasSent }: { status: number | null; wasSent: boolean }): UpstreamFault => {
  if (status !== null) return begun(describe(error), status);
  return wasSent ? unanswered(describe(error), null) : failed(describe(error), null);
};

/** The provider has the request and may be at work. */
export const unanswered = (message: string, status: number | null): UpstreamFault => ({ ...failed(message, status), mayBeAtWork: true });

/** Its head told of an answer. */
export const begun = (message: string, status: number): UpstreamFault => ({
  ...failed(message, status),
  begun: { bytes: Buffer.alloc(0) },
});

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

const blamedBy = (status: number): 'request' | 'gateway' => (REQUEST_AT_FAULT.has(status) ? 'request' : 'gateway');

const NO_WORDS = { ok: false, retryable: true, retryAfterMs: null, param: null, code: null } as const;

const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);

/** One bounded line: the text goes into JSON for the caller, and the provider is not ours. */
export const printable = (text: string, maxCharacters: number): string =>
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
