import type { EventStreamCodec } from '@smithy/eventstream-codec';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { failed, faultOfTranslation, MAX_MESSAGE_CHARACTERS, printable } from '../fault.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamFault } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, type ProviderRequest, posted } from '../provider-http.ts';
import type { Renewed } from '../renewed.ts';
import { type CredentialSource, type Credentials, credentialChain, renewedCredentials } from './credentials.ts';
import { bedrockWords } from './error-words.ts';
import { EventFrames } from './event-frames.ts';
import { type Signer, signerFor } from './signing.ts';

export interface BedrockOptions extends ConnectionOptions {
  /** That requests are signed for, `eu-central-1`. */
  readonly region: string;
  /** An API key of Bedrock's, sent as it is. Without one, requests are signed. */
  readonly apiKey?: string | undefined;
  /** Of AWS's shared files. */
  readonly profile?: string | undefined;
  /** Where AWS's credentials come from; default: AWS's own chain. */
  readonly credentials?: CredentialSource | undefined;
}

export type Operation = 'converse' | 'converse-stream' | 'invoke' | 'invoke-with-response-stream';

/** No request could be signed. */
class WithoutCredentials extends Error {}

/** AWS answers 403 with these where it is the credentials that are of no use any more. */
const STALE = new Set(['ExpiredTokenException', 'ExpiredToken', 'UnrecognizedClientException', 'InvalidSignatureException']);

/** Bedrock's runtime API: `POST /model/<model>/<operation>`, signed or with a key. What AWS's libraries do is loaded with the first call. */
export class BedrockApi {
  readonly clock: Clock;
  readonly #http: ProviderHttp;
  readonly #root: string;
  readonly #credentials: Renewed<Credentials> | undefined;
  readonly #signer: () => Promise<Signer>;
  readonly #codec = once(newCodec);

  constructor(options: BedrockOptions) {
    const { apiKey, region, profile, baseUrl, credentials, clock = systemClock } = options;
    const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.clock = clock;
    this.#http = new ProviderHttp({ ...options, ownHeaders, wordsOf: bedrockWords });
    this.#root = new URL(baseUrl).pathname.replace(/\/+$/, '');
    this.#credentials = apiKey === undefined ? renewedCredentials(credentials ?? credentialChain(profile, region), clock) : undefined;
    this.#signer = once(() => signerFor({ baseUrl, region, clock }));
  }

  /** @param body in the words of the operation */
  async send(call: UpstreamCall, operation: Operation, body: () => Promise<object>): Promise<UpstreamAnswer | UpstreamFault> {
    const outcome = await this.#http.send(call, async () => this.#request(call.model, operation, await body())).catch(faultOf);
    if (!outcome.ok && STALE.has(outcome.code ?? '')) this.#credentials?.discard();
    return outcome;
  }

  /** Of one answer that is a stream. */
  async frames(): Promise<EventFrames> {
    return new EventFrames(await this.#codec());
  }

  async close(): Promise<void> {
    this.#credentials?.close();
    await this.#http.close();
  }

  async #request(model: string, operation: Operation, value: object): Promise<ProviderRequest> {
    const path = `/model/${encodeURIComponent(model)}/${operation}`;
    const accept = operation.endsWith('stream') ? 'application/vnd.amazon.eventstream' : 'application/json';
    const headers = { 'content-type': 'application/json', accept };
    const body = await writtenJson(value);
    const all = this.#credentials ? await this.#signed(this.#credentials, { path, headers, body }) : headers;
    return posted(path, Object.entries(all).flat(), body);
  }

  async #signed(
    credentials: Renewed<Credentials>,
    { path, headers, body }: { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer },
  ): Promise<Readonly<Record<string, string>>> {
    const [sign, identity] = await Promise.all([this.#signer(), credentialsOf(credentials)]);
    return sign({ method: 'POST', path: this.#root + path, headers, body }, identity);
  }
}

async function credentialsOf(credentials: Renewed<Credentials>): Promise<Credentials> {
  try {
    return await credentials.get();
  } catch (error) {
    throw new WithoutCredentials(error instanceof Error ? error.message : '', { cause: error });
  }
}

function faultOf(error: unknown): UpstreamFault {
  if (!(error instanceof WithoutCredentials)) return faultOfTranslation(error);
  const why = printable(error.message, MAX_MESSAGE_CHARACTERS);
  return failed(`No credentials of AWS could be loaded: ${why}`, null);
}

async function newCodec(): Promise<Pick<EventStreamCodec, 'decode'>> {
  const { EventStreamCodec: Codec } = await import('./aws-codec.ts');
  const text = (bytes: Uint8Array | string): string => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8'));
  return new Codec(text, (bytes) => Buffer.from(bytes, 'utf8'));
}

/** Made when it is first asked for, and asked for anew where that failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
