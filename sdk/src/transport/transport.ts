import type { LogStore } from '@tallygate/receipts';
import { ConnectionError, TallygateError } from '../errors.ts';
import { Call, type CallResult, callResult } from './call.ts';
import type { CallOptions } from './call-options.ts';
import { Deadline, sleep } from './deadline.ts';
import type { DebugEvent, OnDebug } from './debug.ts';
import { downloadOf } from './download.ts';
import { EventStream } from './event-stream.ts';
import { headersOf } from './header.ts';
import { type NextPage, type Page, PagedCall } from './paged-call.ts';
import { parseJson, readError } from './read-problem.ts';
import { checkedMaxRetries, retryDelayMs } from './retry.ts';

export interface TransportSettings {
  /** Without a slash at the end and without `/v1`. */
  readonly baseUrl: string;
  /** API key or session token, or none for the endpoints that are public. */
  readonly credential: string | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly onDebug: OnDebug | undefined;
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly logStore: LogStore;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One endpoint with its input, as the resources describe it. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** Instead of `body`: a form with files, which are sent piece by piece. */
  readonly form?: FormData | undefined;
  /** Instead of `body`: what is no JSON, such as a CSV file, which is sent piece by piece. */
  readonly raw?: { readonly type: string; readonly content: Blob | string } | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The operation creates or charges: it carries an idempotency key, so that a retry cannot do it twice. */
  readonly isOnce?: boolean;
}

type List = Pick<Operation, 'path' | 'query'>;

interface Attempt {
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | Blob | null;
  readonly options: CallOptions;
  readonly number: number;
}

/** Turns an answer that is a success into data. A stream keeps the deadline; everything else is done when this returns. */
type Reader<T> = (response: Response, deadline: Deadline) => Promise<T> | T;

/** Sends operations: credential, retries, timeouts and typed errors are here and nowhere else. */
export class Transport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  get baseUrl(): string {
    return this.#settings.baseUrl;
  }

  /** The stored states of the logs that were seen. */
  get logStore(): LogStore {
    return this.#settings.logStore;
  }

  /** The answer as JSON. One without a body is an error: otherwise the caller would fail on `undefined` far from here. */
  json<T>(operation: Operation, options: CallOptions = {}): Call<T> {
    return new Call(
      this.#send(operation, options, async (response, deadline) => {
        const data = await readJson<T>(response);
        deadline.clear();
        return data;
      }),
    );
  }

  /** For operations whose answer has no body. */
  empty(operation: Operation, options: CallOptions = {}): Call<undefined> {
    return new Call(
      this.#send(operation, options, async (response, deadline) => {
        await response.text();
        deadline.clear();
        return undefined;
      }),
    );
  }

  /** The answer as a stream of events. Once its headers are here, nothing is repeated. */
  events<T>(operation: Operation, options: CallOptions = {}, isLast?: (event: T) => boolean): Call<EventStream<T>> {
    return new Call(this.#send(operation, options, (response, deadline) => readEvents<T>(response, deadline, isLast)));
  }

  /** The answer as bytes, read by the caller as they come. Once its headers are here, nothing is repeated. */
  download(operation: Operation, options: CallOptions = {}): Call<Response> {
    return new Call(this.#send(operation, options, downloadOf));
  }

  /** A list in pages: the one that the query asks for, and the ones after it as they are needed. */
  pages<P extends Page<Item>, Item>({ path, query }: List, options: CallOptions = {}, idOf?: (item: Item) => string): PagedCall<P, Item> {
    const fetchPage = (next: NextPage) => this.json<P>({ method: 'GET', path, query: { ...query, ...next } }, options).withResponse();
    return new PagedCall({ fetchPage, idOf });
  }

  async #send<T>(operation: Operation, options: CallOptions, read: Reader<T>): Promise<CallResult<T>> {
    const attempt = { operation, options, ...this.#request(operation, options) };
    const maxRetries = checkedMaxRetries(options.maxRetries ?? this.#settings.maxRetries);
    for (let number = 0; ; number += 1) {
      try {
        return await this.#attempt({ ...attempt, number }, read);
      } catch (error) {
        if (!(error instanceof TallygateError) || number >= maxRetries) throw error;
        const delayMs = retryDelayMs(error, number, Math.random, Date.now());
        if (delayMs === undefined) throw error;
        this.#debug({ type: 'retry', method: operation.method, path: operation.path, attempt: number, code: error.code, delayMs });
        await sleep(delayMs, options.signal);
      }
    }
  }

  async #attempt<T>({ operation, url, headers, body, options, number }: Attempt, read: Reader<T>): Promise<CallResult<T>> {
    const { method, path } = operation;
    const deadline = new Deadline(options.timeoutMs ?? this.#settings.timeoutMs, options.signal);
    const startedAt = Date.now();
    this.#debug({ type: 'request', method, path, attempt: number });
    try {
      deadline.signal.throwIfAborted();
      // Called without a receiver: some runtimes refuse `fetch` as a method of another object.
      const { fetch } = this.#settings;
      const response = await fetch(url, { method, headers, body, signal: deadline.signal });
      const { status } = response;
      const requestId = response.headers.get('x-request-id') ?? undefined;
      this.#debug({ type: 'response', method, path, attempt: number, status, requestId, durationMs: Date.now() - startedAt });
      if (!response.ok) throw await readError(response);
      return callResult(await read(response, deadline), response);
    } catch (error) {
      deadline.clear();
      if (deadline.signal.aborted) throw deadline.signal.reason;
      if (error instanceof TallygateError) throw error;
      throw new ConnectionError(`No connection to ${this.#settings.baseUrl}: ${reasonOf(error)}`, error);
    }
  }

  #request(operation: Operation, options: CallOptions): { url: string; headers: Record<string, string>; body: Attempt['body'] } {
    const { credential, baseUrl, headers: common } = this.#settings;
    const idempotencyKey = options.idempotencyKey ?? (operation.isOnce ? freshIdempotencyKey() : undefined);
    const headers = {
      accept: 'application/json, text/event-stream',
      ...(operation.body !== undefined && { 'content-type': 'application/json' }),
      ...(operation.raw && { 'content-type': operation.raw.type }),
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(idempotencyKey !== undefined && headersOf({ 'idempotency-key': idempotencyKey })),
      ...headersOf(common),
      ...headersOf(operation.headers),
      ...headersOf(options.headers),
    };
    const body = operation.form ?? operation.raw?.content ?? (operation.body === undefined ? null : JSON.stringify(operation.body));
    return { url: `${baseUrl}${operation.path}${queryText(operation.query)}`, headers, body };
  }

  #debug(event: DebugEvent): void {
    this.#settings.onDebug?.(event);
  }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  const value = parseJson(text);
  // No operation answers with null: otherwise the caller would fail on a field of it far from here.
  if (value !== undefined && value !== null) return value as T;
  throw unexpected(response, value === null ? 'null' : text === '' ? 'nothing' : 'something that is not JSON');
}

/** A plain answer to a streaming call is an error here: read as events it would look like an interrupted stream. */
async function readEvents<T>(response: Response, deadline: Deadline, isLast?: (event: T) => boolean): Promise<EventStream<T>> {
  const type = response.headers.get('content-type') ?? '';
  if (type === '' || type.startsWith('text/event-stream')) return new EventStream<T>(response, deadline, isLast);
  await response.body?.cancel();
  throw unexpected(response, `${type}, where a stream of events was asked for`);
}

function unexpected({ status, headers }: Response, answered: string): TallygateError {
  return new TallygateError(`The service answered with ${answered}. Is the base URL right?`, {
    status,
    code: 'unexpected_response',
    headers,
  });
}

/** `fetch` says only "fetch failed"; what happened is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message ? error.cause.message : error.message;
}

/** Not `randomUUID`, which browsers keep from pages that were not loaded over https. */
const freshIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

function queryText(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
