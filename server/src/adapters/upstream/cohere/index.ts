import { failed } from '../fault.ts';
import { openAiWords } from '../openai-fault.ts';
import { openAiRequest } from '../openai-request.ts';
import type { UpstreamEndpoint, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { rerankRequest } from './rerank.ts';

export interface CohereOptions extends ConnectionOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
}

const RERANK = '/v1/rerank';
/** Cohere translates these itself, below `/compatibility/v1`. */
const COMPATIBLE: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>(['/v1/chat/completions', '/v1/embeddings']);
const JSON_CONTENT = ['content-type', 'application/json', 'accept', 'application/json'];

/**
 * Cohere (`https://api.cohere.com`): rankings by its own API, version 2; chats and embeddings by the surface for OpenAI's clients that it has
 * beside it (docs.cohere.com/docs/compatibility-api).
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function cohere(options: CohereOptions): UpstreamProvider {
  const { apiKey } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const http = new ProviderHttp({ ...options, baseUrl: rootOf(options.baseUrl), ownHeaders, wordsOf: openAiWords });
  return {
    serves: (endpoint) => endpoint === RERANK || COMPATIBLE.has(endpoint),
    call: (call) => {
      if (call.endpoint === RERANK) return http.send(call, () => postedJson('/v2/rerank', JSON_CONTENT, rerankRequest(call)));
      if (!COMPATIBLE.has(call.endpoint)) return Promise.resolve(failed(`Cohere is not asked for ${call.endpoint}.`, null));
      return http.send(call, () => openAiRequest(call, 'max_tokens', { path: `/compatibility${call.endpoint}` }));
    },
    close: () => http.close(),
  };
}

/** An address may name one of the two surfaces, or a version. */
function rootOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/(?:\/compatibility)?(?:\/v[12])?\/*$/, '');
  return url.href;
}
