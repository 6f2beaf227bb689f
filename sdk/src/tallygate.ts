import { type LogStore, memoryLogStore } from '@tallygate/receipts';
import { type Address, baseUrlOf, credentialOf, openaiAddress } from './address.ts';
import { Resources } from './generated/client.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { checkedTimeoutMs } from './transport/deadline.ts';
import type { OnDebug } from './transport/debug.ts';
import { checkedMaxRetries } from './transport/retry.ts';
import { type Operation, Transport } from './transport/transport.ts';

/** Ten minutes, as OpenAI's SDKs: reasoning models take their time. */
const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_RETRIES = 2;

export interface TallygateOptions extends Address {
  /** Default: the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Time for one attempt, milliseconds; of a stream, the longest silence. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Further headers of every request, such as a `user-agent`. Those of a call win over them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called with requests, answers and retries; never with credentials or content. */
  readonly onDebug?: OnDebug | undefined;
  /**
   * The store of what was seen of the service: the states of its receipts log and its keys. A log with two histories and keys that contradict
   * each other are detected by it. Default: in memory, for as long as this client lasts. `fileLogStore` of `@tallygate/receipts/node` keeps them
   * in a folder, `webLogStore(localStorage)` in a browser.
   */
  readonly logStore?: LogStore | undefined;
}

/** A request in the API's own terms. */
export interface ApiRequest {
  readonly method?: Operation['method'] | undefined;
  /** From the address of the gateway on: `/v1/usage?group_by=model`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A client of one gateway with one credential. It holds no connection and needs no closing. */
export class Tallygate extends Resources {
  /** Without `/v1`. */
  readonly baseUrl: string;
  /** Private, so that printing or serialising a client cannot show the credential. */
  readonly #credential: string | undefined;
  readonly #transport: Transport;

  constructor(options: TallygateOptions = {}) {
    const credential = credentialOf(options);
    const baseUrl = baseUrlOf(options.baseUrl);
    const transport = new Transport({
      baseUrl,
      credential,
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: checkedTimeoutMs(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      maxRetries: checkedMaxRetries(options.maxRetries ?? DEFAULT_MAX_RETRIES),
      onDebug: options.onDebug,
      headers: options.headers ?? {},
      logStore: options.logStore ?? memoryLogStore(),
    });
    super(transport);
    this.baseUrl = baseUrl;
    this.#credential = credential;
    this.#transport = transport;
  }

  /** Any request of the API, for what has no method here; errors, retries and the credential are those of every call. */
  request({ method = 'GET', path, body }: ApiRequest, options?: CallOptions): Call<Response> {
    if (!/^\/(?!\/)/.test(path)) throw new TypeError(`The path must begin with one /, not "${path}".`);
    return this.#transport.download({ method, path, body, isOnce: method === 'POST' }, options);
  }

  /** What an OpenAI client needs to go through this gateway: `new OpenAI(tallygate.openai())`. */
  openai(): { baseURL: string; apiKey: string } {
    return openaiAddress(this.baseUrl, this.#credential);
  }
}
