import { openAiWords } from './openai-fault.ts';
import { type MaxTokensField, openAiRequest } from './openai-request.ts';
import type { UpstreamEndpoint, UpstreamProvider } from './port.ts';
import { type ConnectionOptions, ProviderHttp } from './provider-http.ts';

export interface OpenAiCompatibleOptions extends ConnectionOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** Default: `max_completion_tokens` at api.openai.com, whose reasoning models take no other; else `max_tokens`, which every imitator knows. */
  readonly maxTokensField?: MaxTokensField | undefined;
  /** What the provider offers. Default: everything; it will say itself what it has not. */
  readonly endpoints?: ReadonlySet<UpstreamEndpoint> | undefined;
}

/**
 * Any provider with OpenAI's API, or a part of it. Bytes pass through as they come.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): UpstreamProvider {
  const { apiKey, endpoints } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: openAiWords });
  const maxTokensField =
    options.maxTokensField ?? (new URL(options.baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens');
  return {
    serves: (endpoint) => endpoints?.has(endpoint) ?? true,
    call: (call) => http.send(call, () => openAiRequest(call, maxTokensField)),
    read: (read) => http.send(read, () => ({ path: read.path, method: read.method, headers: ['accept', '*/*'] })),
    close: () => http.close(),
  };
}
