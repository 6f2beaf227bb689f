import { openAiWords } from './openai-fault.ts';
import { type MaxTokensField, openAiRequest } from './openai-request.ts';
import type { UpstreamProvider } from './port.ts';
import { type ConnectionOptions, ProviderHttp } from './provider-http.ts';

export interface OpenAiCompatibleOptions extends ConnectionOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** Default: `max_completion_tokens` at api.openai.com, whose reasoning models take no other; else `max_tokens`, which every imitator knows. */
  readonly maxTokensField?: MaxTokensField | undefined;
  /** Whether it has Responses. Default: only at hosts that are known to; chat completions, into which they are translated, all have. */
  readonly hasResponses?: boolean | undefined;
}

const WITH_RESPONSES = new Set(['api.openai.com', 'api.x.ai', 'openrouter.ai']);

/**
 * Any provider with OpenAI's API, or a part of it. Bytes pass through as they come.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): UpstreamProvider {
  const { apiKey } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: openAiWords });
  const { hostname } = new URL(options.baseUrl);
  const maxTokensField = options.maxTokensField ?? (hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens');
  const hasResponses = options.hasResponses ?? WITH_RESPONSES.has(hostname);
  return {
    // What else it has not, it will say itself.
    serves: (endpoint) => endpoint !== '/v1/messages' && (endpoint !== '/v1/responses' || hasResponses),
    call: (call) => http.send(call, () => openAiRequest(call, maxTokensField)),
    read: (read) => http.send(read, () => ({ path: read.path, method: read.method, headers: ['accept', '*/*'] })),
    close: () => http.close(),
  };
}
