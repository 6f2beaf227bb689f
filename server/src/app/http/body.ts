import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { joined } from '../../kernel/joined.ts';
import { jsonFaultPosition } from '../../kernel/json-fault.ts';
import { HARMLESS_BYTES, type JsonBounds, JsonScan } from '../../kernel/json-scan.ts';
import { MOST_WIDE_CHARACTERS, WideTextFault } from '../../kernel/long-text.ts';
import type { MemoryReservation } from '../../kernel/memory-reservation.ts';
import { Problem } from '../../kernel/problem.ts';
import { JsonFault, readJson } from '../../kernel/read-json.ts';
import { andThen, type Soon } from '../../kernel/soon.ts';
import { nextTurn } from '../../kernel/turn.ts';
import { areUtf8 } from '../../kernel/utf8-check.ts';
import { SMALL_BYTES } from './body-memory.ts';
import { codingOf, decodedBody } from './content-coding.ts';
import { MailScan } from './mail-scan.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** From the call to the body's last byte, milliseconds. */
  readonly timeoutMs: number;
}

/** A body as it came, with what it says. */
export interface JsonBody {
  readonly bytes: Buffer;
  /** `undefined` when there is no body at all. */
  readonly value: unknown;
  /** How many values it consists of: what checking it costs. 0 where the body is too small to be counted. */
  readonly values: number;
}

/** What is larger gets a turn of the event loop for each thing that is done with all of it. */
export const LARGE_BYTES = 512 * 1024;

/**
 * The JSON body of a request. What it consists of is counted as it comes, so that nothing is ever parsed that would take many times its size.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `body_too_complex`, `request_timeout`, `malformed_json`, `shared_capacity_full`
 */
export function readJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
  bounds: JsonBounds,
  reservation?: MemoryReservation,
): Promise<JsonBody> {
  if (!hasBody(request)) return Promise.resolve({ bytes: Buffer.alloc(0), value: undefined, values: 0 });
  try {
    requireJson(request);
  } catch (refusal) {
    return Promise.reject(refusal);
  }
  const isHarmless =
    codingOf(request) === undefined && Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= HARMLESS_BYTES;
  const scan = isHarmless ? undefined : new JsonScan(bounds);
  return readBody(request, limits, scan, reservation).then((bytes) => {
    const values = scan?.values ?? 0;
    if (bytes.length > LARGE_BYTES) return readLarge(bytes, values);
    return andThen(bytes.length === 0 ? undefined : parseJson(bytes), (value) => ({ bytes, value, values }));
  });
}

async function readLarge(bytes: Buffer, values: number): Promise<JsonBody> {
  await nextTurn();
  requireUtf8(await areUtf8(bytes));
  const value = await parseUtf8(bytes);
  await nextTurn();
  return { bytes, value, values };
}

/**
 * A mail as it came in, as text of its bytes (Latin-1), which loses none of them.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `body_too_complex`, `request_timeout`
 */
export async function readMail(request: IncomingMessage, limits: BodyLimits): Promise<{ bytes: Buffer; value: string }> {
  if (!/^message\/rfc822\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type', 'Send the mail itself as the body, with Content-Type: message/rfc822.');
  const bytes = await readBody(request, { ...limits, maxBytes: Math.min(limits.maxBytes, MAIL_BYTES) }, new MailScan());
  return { bytes, value: bytes.toString('latin1') };
}

/** Mail servers send back the beginning of a mail with their report, or its headers alone: Postfix 50,000 bytes. */
const MAIL_BYTES = 1024 * 1024;

interface Scan {
  take(chunk: Buffer): void;
}

/**
 * @param scan receives each piece of the body before it is stored
 * @param reservation reserves memory once the body turns out to be large
 * @throws Problem `payload_too_large` (before reading, where the length is declared), `request_timeout`, `unsupported_media_type` and
 *   `malformed_json` for its coding, and what the scan throws
 */
export const readBody = (request: IncomingMessage, limits: BodyLimits, scan?: Scan, reservation?: MemoryReservation): Promise<Buffer> =>
  new Promise((resolve, reject) => new BodyReader(request, limits, { scan, reservation, resolve, reject }).read());

interface Reading {
  readonly scan: Scan | undefined;
  readonly reservation: MemoryReservation | undefined;
  readonly resolve: (body: Soon<Buffer>) => void;
  readonly reject: (reason: unknown) => void;
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #limits: BodyLimits;
  readonly #reading: Reading;
  readonly #decoded: ReturnType<typeof decodedBody>;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #hasRoom: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: IncomingMessage, limits: BodyLimits, reading: Reading) {
    this.#request = request;
    this.#limits = limits;
    this.#reading = reading;
    this.#hasRoom = reading.reservation === undefined;
    this.#decoded = decodedBody(request, limits.maxBytes, this.#fail);
  }

  read(): void {
    const { maxBytes } = this.#limits;
    this.#startTimer();
    this.#request.on('error', this.#onClose);
    if (Number(this.#request.headers['content-length'] ?? 0) > maxBytes) this.#fail(tooLarge(maxBytes));
    else {
      this.#decoded.stream.on('data', this.#onData).on('end', this.#onEnd);
      this.#request.on('close', this.#onClose);
    }
  }

  readonly #onData = (chunk: Buffer): void => {
    const { maxBytes } = this.#limits;
    this.#size += chunk.length;
    try {
      if (this.#size > maxBytes) throw tooLarge(maxBytes);
      this.#reading.scan?.take(chunk);
    } catch (refusal) {
      this.#fail(refusal);
      return;
    }
    this.#chunks.push(chunk);
    if (this.#size > SMALL_BYTES && !this.#hasRoom) this.#takeRoom();
  };

  /** Unread meanwhile, and not slow: it is the gateway that it waits for. */
  #takeRoom(): void {
    this.#hasRoom = true;
    clearTimeout(this.#timer);
    this.#decoded.stream.pause();
    const goOn = () => {
      this.#startTimer();
      this.#decoded.stream.resume();
    };
    const { maxBytes, timeoutMs: withinMs } = this.#limits;
    const giveWay = () => this.#fail(tooSlowForOthers());
    const arrival = { most: mostOf(this.#request, maxBytes), withinMs, come: () => this.#size, giveWay };
    this.#reading.reservation?.acquire(arrival).then(goOn, this.#fail);
  }

  readonly #onEnd = (): void => {
    this.#settle();
    this.#reading.reservation?.complete(this.#size);
    // Listeners of the request live as long as it does, and with them everything here.
    this.#reading.resolve(joined(this.#chunks.splice(0)));
  };

  readonly #onClose = (): void => {
    // What has arrived whole may still be decoded.
    if (this.#decoded.stream !== this.#request && this.#request.complete) return;
    this.#fail(new Problem('request_timeout', 'The connection closed before the whole body had arrived.'));
  };

  readonly #fail = (reason: unknown): void => {
    this.#settle();
    this.#decoded.stop();
    // The rest is read and thrown away, for as long as the front allows: a client that is cut off while it writes never reads why.
    this.#request.resume();
    this.#reading.reject(reason);
  };

  #startTimer(): void {
    const { timeoutMs } = this.#limits;
    this.#timer = setTimeout(() => this.#fail(tooSlow(timeoutMs)), timeoutMs);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#decoded.stream.off('data', this.#onData).off('end', this.#onEnd);
    this.#request.off('close', this.#onClose).off('error', this.#onClose);
  }
}

/** Its length, where it is told and is that of what is read. */
const mostOf = (request: IncomingMessage, maxBytes: number): number =>
  codingOf(request) === undefined ? Number(request.headers['content-length'] ?? maxBytes) : maxBytes;

const BYTE_ORDER_MARK = Buffer.from('\u{feff}');

/** @throws Problem `malformed_json`, naming the position */
function parseJson(bytes: Buffer): unknown {
  requireUtf8(isUtf8(bytes));
  return parseUtf8(bytes);
}

function requireUtf8(isValid: boolean): void {
  if (!isValid) throw new Problem('malformed_json', 'The body is not valid UTF-8: encode it as UTF-8.');
}

function parseUtf8(bytes: Buffer): unknown {
  const json = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
  const refuse = (cause: unknown): never => {
    if (cause instanceof WideTextFault) throw tooWide(cause);
    throw new Problem('malformed_json', `The body ${whereJsonStops(json, cause)}: correct it and send it again.`, { cause });
  };
  try {
    const value = readJson(json);
    return value instanceof Promise ? value.catch(refuse) : value;
  } catch (cause) {
    return refuse(cause);
  }
}

function whereJsonStops(json: Buffer, cause: unknown): string {
  if (cause instanceof JsonFault)
    return cause.byte >= json.length ? `ends too early, at byte ${cause.byte}` : `stops being JSON at byte ${cause.byte}`;
  const text = json.toString();
  const position = jsonFaultPosition(text);
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
}

const tooLarge = (maxBytes: number): Problem =>
  new Problem('payload_too_large', `The body is larger than the ${maxBytes} bytes that this endpoint accepts.`);

const tooWide = (cause: WideTextFault): Problem =>
  new Problem(
    'body_too_complex',
    `The body has a text of more than ${MOST_WIDE_CHARACTERS} characters that are not all in Latin-1, more than this endpoint accepts: split it.`,
    { cause },
  );

/** The connection is in the middle of a body that is not read any more, so it cannot be used again. */
const tooSlow = (timeoutMs: number): Problem =>
  new Problem('request_timeout', `The body did not arrive within ${timeoutMs / 1000} seconds: send it again.`, {
    headers: { connection: 'close' },
  });

const tooSlowForOthers = (): Problem =>
  new Problem('request_timeout', 'The body arrived too slowly to be there in time, and others waited for its memory: send it again.', {
    headers: { connection: 'close' },
  });
