import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { TRACEPARENT } from '../../kernel/trace-context.ts';
import { writtenJson } from '../../kernel/written-json.ts';
import { cancelled, faultOfRefusal, type Refusal, type Words } from './fault.ts';
import { HttpExchange } from './http-exchange.ts';
import {
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamConnection,
  type UpstreamFault,
  type UpstreamOpening,
  VIA_HEADER,
} from './port.ts';
import { openSocket } from './provider-socket.ts';

/** What every provider over HTTP is told about its connection. */
export interface ConnectionOptions {
  readonly name: string;
  /** Where the provider's surface begins, `https://api.openai.com/v1`. A query string is sent with every call. */
  readonly baseUrl: string;
  /** Sent with every call; wins over the adapter's own headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Most connections at a time; calls beyond it wait, on their first-byte timeout. Default: no limit, since HTTP/1.1 needs one for each running call. */
  readonly connections?: number | undefined;
  /** Offer HTTP/2 over TLS. Default false: a stream of small chunks costs more CPU there, and one lost packet stalls every call. */
  readonly allowH2?: boolean | undefined;
  /** Only for `Retry-After` dates. */
  readonly clock?: Clock | undefined;
}

export interface ProviderHttpOptions extends ConnectionOptions {
  /** The headers of the dialect, credentials among them. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** What must not come back in a message, besides the values of `headers`. */
  readonly apiKey?: string | undefined;
  /** Reads the words of a refusal. */
  readonly wordsOf: (text: string, headers: Refusal['headers']) => Words;
}

export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, with its query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: Dispatcher.DispatchOptions['body'];
}

/** A request with a value as its JSON, at once where it is small. */
export function postedJson(path: string, headers: readonly string[], value: unknown): ProviderRequest | Promise<ProviderRequest> {
  const written = writtenJson(value);
  return written instanceof Promise ? written.then((body) => posted(path, headers, body)) : posted(path, headers, written);
}

export const posted = (path: string, headers: readonly string[], body: Buffer): ProviderRequest =>
  body.length <= PIECE_BYTES
    ? { path, method: 'POST', headers, body }
    : { path, method: 'POST', headers: [...headers, 'content-length', String(body.length)], body: inPieces(body) };

/** Given whole, undici would say that all of it is sent while most of it waits here for the provider to take it. */
const inPieces = (body: Buffer): Readable => Readable.from(piecesOf(body), { objectMode: false });

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

type Limits = Pick<UpstreamCall, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'onOverdue' | 'signal' | 'via' | 'traceparent'>;

const PIECE_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 5000;
/** What is shorter than this is not looked for in the provider's messages: it would blot out ordinary words. */
const MIN_SECRET_CHARACTERS = 8;

/** The connections to one provider. Redirects are not followed: they would carry the key to another address. */
export class ProviderHttp {
  readonly #pool: Pool;
  readonly #origin: string;
  readonly #root: string;
  readonly #query: string;
  readonly #headers: readonly string[];
  readonly #faultOf: (refusal: Refusal) => UpstreamFault;

  /** @throws TypeError if `baseUrl` is no http or https URL, or carries credentials */
  constructor(options: ProviderHttpOptions) {
    const base = new URL(options.baseUrl);
    if (base.username || base.password)
      throw new TypeError(`Credentials of provider ${options.name} belong in its key or headers, not in its URL`);
    if (base.protocol !== 'http:' && base.protocol !== 'https:')
      throw new TypeError(`Expected an http or https URL for provider ${options.name}`);
    this.#pool = new Pool(base.origin, {
      connections: options.connections ?? null,
      allowH2: options.allowH2 ?? false,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      // The exchange keeps the time; undici's own timers cost more and are half a second coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#origin = base.origin;
    this.#root = base.pathname.replace(/\/+$/, '');
    this.#query = base.search;
    this.#headers = headersOf(options);
    const secrets = secretsOf(options);
    const { wordsOf, clock = systemClock } = options;
    this.#faultOf = (refusal) => faultOfRefusal(refusal, { nowMs: clock.now(), secrets, wordsOf });
  }

  /** The request is not even built for a caller who is gone already. Rejects only where it cannot be built. */
  send(limits: Limits, build: () => ProviderRequest | Promise<ProviderRequest>): Promise<UpstreamAnswer | UpstreamFault> {
    if (limits.signal.aborted) return Promise.resolve(cancelled(null));
    try {
      const built = build();
      return built instanceof Promise ? built.then((request) => this.#send(limits, request)) : this.#send(limits, built);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** A WebSocket at an address below the base URL. */
  connect(opening: UpstreamOpening, path: string): Promise<UpstreamConnection | UpstreamFault> {
    return openSocket(new URL(this.#pathOf(path), this.#origin), {
      ...opening,
      headers: [...this.#headers, ...wayOf(opening)],
      faultOf: this.#faultOf,
    });
  }

  #send(limits: Limits, { method, path, headers, body = null }: ProviderRequest): Promise<UpstreamAnswer | UpstreamFault> {
    const { firstByteTimeoutMs, idleTimeoutMs, onOverdue, signal } = limits;
    return new Promise((settle) => {
      // A large request takes a while to write.
      if (signal.aborted) {
        settle(cancelled(null));
        return;
      }
      const request = {
        method,
        path: this.#pathOf(path),
        headers: [...this.#headers, ...headers, ...wayOf(limits)],
        body,
      };
      // A dispatcher tells the exchange of every error, its own included; it does not throw.
      this.#pool.dispatch(
        request,
        new HttpExchange({ firstByteTimeoutMs, idleTimeoutMs, onOverdue, signal, faultOf: this.#faultOf, settle }),
      );
    });
  }

  /** Running calls are cut: whoever closes has drained. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  #pathOf(below: string): string {
    const path = this.#root + below;
    return this.#query !== '' && path.includes('?') ? `${path}&${this.#query.slice(1)}` : path + this.#query;
  }
}

/** Names and values in turn, as undici takes them fastest. Nothing of the caller's request is among them, which only has its way added. */
function headersOf({ ownHeaders, headers = {} }: ProviderHttpOptions): string[] {
  const all = new Map<string, string>([
    // Compressed bytes could not be passed through, and usage could not be found in them.
    ['accept-encoding', 'identity'],
    ['user-agent', 'tallygate'],
  ]);
  for (const [name, value] of [...Object.entries(ownHeaders), ...Object.entries(headers)]) all.set(name.toLowerCase(), value);
  return [...all].flat();
}

/** The configured headers may hold credentials as well. */
const secretsOf = ({ apiKey, headers = {} }: ProviderHttpOptions): string[] =>
  [apiKey, ...Object.values(headers)].filter((value) => value !== undefined).filter(({ length }) => length >= MIN_SECRET_CHARACTERS);

/** Where the call comes from: the gateways before, and the span that it is in. */
const wayOf = ({ via, traceparent }: Pick<Limits, 'via' | 'traceparent'>): string[] => [
  ...(via === undefined ? [] : [VIA_HEADER, via]),
  ...(traceparent === undefined ? [] : [TRACEPARENT, traceparent]),
];
