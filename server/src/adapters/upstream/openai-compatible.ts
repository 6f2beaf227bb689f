import { type Dispatcher, Pool } from 'undici';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { HttpExchange } from './http-exchange.ts';
import { multipartBody } from './multipart-body.ts';
import { cancelled, faultOfRefusal, type Refusal } from './openai-fault.ts';
import { type MaxTokensField, openAiFields } from './openai-request.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamEndpoint, UpstreamFault, UpstreamProvider, UpstreamRead } from './port.ts';

export interface OpenAiCompatibleOptions {
  readonly name: string;
  /** Where the provider's OpenAI surface begins, `https://api.openai.com/v1`. A query string is sent with every call. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** Sent with every call; wins over the adapter's own headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: `max_completion_tokens` at api.openai.com, whose reasoning models take no other; else `max_tokens`, which every imitator knows. */
  readonly maxTokensField?: MaxTokensField | undefined;
  /** Most connections at a time; calls beyond it wait, on their first-byte timeout. Default: no limit, since HTTP/1.1 needs one for each running call. */
  readonly connections?: number | undefined;
  /** Offer HTTP/2 over TLS. Default false: a stream of small chunks costs more CPU there, and one lost packet stalls every call. */
  readonly allowH2?: boolean | undefined;
  /** What the provider offers. Default: everything; it will say itself what it has not. */
  readonly endpoints?: ReadonlySet<UpstreamEndpoint> | undefined;
  /** Only for `Retry-After` dates. */
  readonly clock?: Clock | undefined;
}

const CONNECT_TIMEOUT_MS = 5000;
/** What is shorter than this is not looked for in the provider's messages: it would blot out ordinary words. */
const MIN_SECRET_CHARACTERS = 8;

/**
 * Any provider with OpenAI's API, or a part of it. Bytes pass through as they come.
 * Redirects are not followed: they would carry the key to another address.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): UpstreamProvider {
  const base = new URL(options.baseUrl);
  if (base.username || base.password)
    throw new TypeError(`Credentials of provider ${options.name} belong in its key or headers, not in its URL`);
  if (base.protocol !== 'http:' && base.protocol !== 'https:')
    throw new TypeError(`Expected an http or https URL for provider ${options.name}`);
  const pool = new Pool(base.origin, {
    connections: options.connections ?? null,
    allowH2: options.allowH2 ?? false,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // The exchange keeps the time; undici's own timers cost more and are half a second coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const root = base.pathname.replace(/\/+$/, '');
  const pathOf = (below: string): string => withQuery(root + below, base.search);
  const headers = headersOf(options);
  const maxTokensField = options.maxTokensField ?? (base.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens');
  const secrets = secretsOf(options);
  const clock = options.clock ?? systemClock;
  const faultOf = (refusal: Refusal): UpstreamFault => faultOfRefusal(refusal, clock.now(), secrets);

  const exchange = (
    { firstByteTimeoutMs, idleTimeoutMs, signal }: Pick<UpstreamCall, 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'signal'>,
    request: () => Dispatcher.DispatchOptions,
  ): Promise<UpstreamAnswer | UpstreamFault> =>
    new Promise((settle) => {
      if (signal.aborted) {
        settle(cancelled(null));
        return;
      }
      // A dispatcher tells the exchange of every error, its own included; it does not throw.
      pool.dispatch(request(), new HttpExchange({ firstByteTimeoutMs, idleTimeoutMs, signal, faultOf, settle }));
    });

  const call = (one: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> =>
    exchange(one, () => {
      const path = pathOf(one.endpoint.slice('/v1'.length));
      const accept = acceptOf(one);
      const fields = openAiFields(one, maxTokensField);
      if (!one.files) return { path, method: 'POST', headers: [...headers, ...JSON_CONTENT, ...accept], body: JSON.stringify(fields) };
      const form = multipartBody(fields, one.files);
      const content = ['content-type', form.contentType, 'content-length', String(form.contentLength)];
      return { path, method: 'POST', headers: [...headers, ...content, ...accept], body: form.body };
    });

  const read = (one: UpstreamRead): Promise<UpstreamAnswer | UpstreamFault> =>
    exchange(one, () => ({ path: pathOf(one.path), method: one.method, headers: [...headers, 'accept', '*/*'] }));

  // Not `close`, which would wait for running streams: whoever closes has drained, and what is left is cut.
  return { serves: (endpoint) => options.endpoints?.has(endpoint) ?? true, call, read, close: () => pool.destroy() };
}

const JSON_CONTENT = ['content-type', 'application/json'];

const acceptOf = ({ stream }: UpstreamCall): string[] => ['accept', stream ? 'text/event-stream, application/json' : 'application/json'];

const withQuery = (path: string, search: string): string =>
  search !== '' && path.includes('?') ? `${path}&${search.slice(1)}` : path + search;

/** Names and values in turn, as undici takes them fastest. Nothing of the caller's request is among them. */
function headersOf({ apiKey, headers = {} }: OpenAiCompatibleOptions): string[] {
  const all = new Map<string, string>([
    // Compressed bytes could not be passed through, and usage could not be found in them.
    ['accept-encoding', 'identity'],
    ['user-agent', 'tallygate'],
  ]);
  if (apiKey !== undefined) all.set('authorization', `Bearer ${apiKey}`);
  for (const [name, value] of Object.entries(headers)) all.set(name.toLowerCase(), value);
  return [...all].flat();
}

const secretsOf = ({ apiKey, headers = {} }: OpenAiCompatibleOptions): string[] =>
  [apiKey, ...Object.values(headers)].filter((value) => value !== undefined).filter((value) => value.length >= MIN_SECRET_CHARACTERS);
