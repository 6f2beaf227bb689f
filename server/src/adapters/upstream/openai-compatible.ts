import { multipartBody } from './multipart-body.ts';
import { openAiWords } from './openai-fault.ts';
import { type MaxTokensField, openAiFields } from './openai-request.ts';
import type { UpstreamCall, UpstreamEndpoint, UpstreamProvider } from './port.ts';
import { type ConnectionOptions, ProviderHttp, type ProviderRequest } from './provider-http.ts';

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
    call: (call) => http.send(call, () => requestOf(call, maxTokensField)),
    read: (read) => http.send(read, () => ({ path: read.path, method: read.method, headers: ['accept', '*/*'] })),
    close: () => http.close(),
  };
}

function requestOf(call: UpstreamCall, maxTokensField: MaxTokensField): ProviderRequest {
  const path = call.endpoint.slice('/v1'.length);
  const fields = openAiFields(call, maxTokensField);
  if (!call.files) return { path, method: 'POST', headers: [...JSON_CONTENT, ...acceptOf(call)], body: JSON.stringify(fields) };
  const form = multipartBody(fields, call.files);
  const content = ['content-type', form.contentType, 'content-length', String(form.contentLength)];
  return { path, method: 'POST', headers: [...content, ...acceptOf(call)], body: form.body };
}

const JSON_CONTENT = ['content-type', 'application/json'];

const acceptOf = ({ stream }: UpstreamCall): string[] => ['accept', stream ? 'text/event-stream, application/json' : 'application/json'];
