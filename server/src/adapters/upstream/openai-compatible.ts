import { openAiWords } from './openai-fault.ts';
import { changesFields, type MaxTokensField, type OpenAiQuirks, quirkFault } from './openai-quirks.ts';
import { openAiRequest, realtimePath } from './openai-request.ts';
import { isMakersOwn, type UpstreamProvider } from './port.ts';
import { type ConnectionOptions, ProviderHttp } from './provider-http.ts';

export interface OpenAiCompatibleOptions extends ConnectionOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
  /** Default: that of `quirks`, else `max_tokens`, which every imitator of OpenAI knows. */
  readonly maxTokensField?: MaxTokensField | undefined;
  /** Whether it has Responses. Default: that of `quirks`; chat completions, into which they are translated, all have. */
  readonly hasResponses?: boolean | undefined;
  /** In what it differs from OpenAI. */
  readonly quirks?: OpenAiQuirks | undefined;
}

/**
 * Any provider with OpenAI's API, or a part of it. Bytes pass through as they come.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): UpstreamProvider {
  const { apiKey } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: openAiWords });
  const { quirks = {} } = options;
  const maxTokensField = options.maxTokensField ?? quirks.maxTokensField ?? 'max_tokens';
  const asTheirs = { ...(changesFields(quirks) && { quirks }), hasProjectTier: quirks.hasProjectTier };
  const hasResponses = options.hasResponses ?? quirks.hasResponses ?? false;
  // Its own endpoint for OpenAI's clients.
  const isGoogles = new URL(options.baseUrl).hostname.endsWith('.googleapis.com');
  return {
    // What else it has not, it will say itself.
    serves: (endpoint) => !isMakersOwn(endpoint) && (endpoint !== '/v1/responses' || hasResponses),
    readsGoogleFields: () => isGoogles,
    takesServiceTiers: true,
    call: (call) => {
      const fault = quirkFault(call, quirks);
      return fault ? Promise.resolve(fault) : http.send(call, () => openAiRequest(call, maxTokensField, asTheirs));
    },
    read: (read) => http.send(read, () => ({ path: read.path, method: read.method, headers: ['accept', '*/*'] })),
    connect: (opening) => http.connect(opening, realtimePath(opening)),
    close: () => http.close(),
  };
}
