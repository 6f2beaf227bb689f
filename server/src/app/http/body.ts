import { isAscii } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../kernel/problem.ts';
import { jsonFaultPosition } from './json-fault.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** From the call to the body's last byte, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The JSON body of a request with the bytes it was parsed from; the value is `undefined` when there is no body at all.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `request_timeout`, `malformed_json`, `validation_failed` (nested too deep)
 */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<{ bytes: Buffer; value: unknown }> {
  if (!hasBody(request)) return { bytes: Buffer.alloc(0), value: undefined };
  requireJson(request);
  const bytes = await readBody(request, limits);
  const value = bytes.length === 0 ? undefined : parseJson(bytes);
  if (bytes.length > 2 * MOST_LEVELS && isNestedDeeper(value, MOST_LEVELS)) throw tooDeep();
  return { bytes, value };
}

/**
 * A mail as it came in, as text of its bytes (Latin-1), which loses none of them.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `request_timeout`
 */
export async function readMail(request: IncomingMessage, limits: BodyLimits): Promise<{ bytes: Buffer; value: string }> {
  if (!/^message\/rfc822\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type', 'Send the mail itself as the body, with Content-Type: message/rfc822.');
  const bytes = await readBody(request, limits);
  return { bytes, value: bytes.toString('latin1') };
}

/** @throws Problem `payload_too_large` (before reading, where the length is declared), `request_timeout` */
export function readBody(request: IncomingMessage, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => fail(tooSlow(timeoutMs)), timeoutMs);

    const settle = () => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const fail = (problem: Problem) => {
      settle();
      // The rest is read and thrown away: a client that is cut off while it writes never reads why.
      request.resume();
      reject(problem);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) fail(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      settle();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    };
    const onClose = () => fail(new Problem('request_timeout', 'The connection closed before the whole body had arrived.'));

    request.on('error', onClose);
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) fail(tooLarge(maxBytes));
    else request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** JSON.parse takes any depth, but JSON.stringify runs out of stack at some thousand levels, and RFC 8259 (section 9) lets a parser set a limit. */
const MOST_LEVELS = 256;

/** Looks no deeper than `most`, so its own recursion cannot become what it guards against. */
function isNestedDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most < 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) if (isNestedDeeper(member, most - 1)) return true;
  return false;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws Problem `malformed_json`, naming the position */
function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes);
  } catch (cause) {
    throw new Problem('malformed_json', 'The body is not valid UTF-8: encode it as UTF-8.', { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed_json', `The body ${whereJsonStops(text, cause)}: correct it and send it again.`, { cause });
  }
}

/** Looking for the fault takes some 0.1 µs a character, on the event loop. */
const MAX_SEARCHED = 1_048_576;

function whereJsonStops(text: string, cause: unknown): string {
  const said = /at position (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1];
  if (said === undefined && text.length > MAX_SEARCHED) return 'is not JSON';
  const position = said === undefined ? jsonFaultPosition(text) : Number(said);
  return position >= text.length ? `ends too early, at position ${position}` : `stops being JSON at position ${position}`;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

/** @throws Problem `unsupported_media_type` */
function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!JSON_TYPE.test(type) || (charset !== 'utf-8' && charset !== 'utf8'))
    throw new Problem('unsupported_media_type', 'Send the body as Content-Type: application/json, in UTF-8.');
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity')
    throw new Problem('unsupported_media_type', `Send the body without Content-Encoding (${coding.slice(0, 40)}).`);
}

const tooDeep = (): Problem =>
  new Problem('validation_failed', `The body nests arrays and objects deeper than ${MOST_LEVELS} levels: flatten it.`, {
    errors: [{ loc: ['body'], msg: `Nested deeper than ${MOST_LEVELS} levels`, type: 'too_deep' }],
  });

const tooLarge = (maxBytes: number): Problem =>
  new Problem('payload_too_large', `The body is larger than the ${maxBytes} bytes that this endpoint accepts.`);

/** The connection is in the middle of a body nobody waits for any more, so it cannot be used again. */
const tooSlow = (timeoutMs: number): Problem =>
  new Problem('request_timeout', `The body did not arrive within ${timeoutMs / 1000} seconds: send it again.`, {
    headers: { connection: 'close' },
  });
