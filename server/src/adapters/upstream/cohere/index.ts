import { systemClock } from '../../../kernel/clock.ts';
import { failed, faultOfTranslation } from '../fault.ts';
import { openAiRequest } from '../openai-request.ts';
import type { ChatCall, UpstreamCall, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { chatAnswer } from './chat.ts';
import { cohereWords } from './error-words.ts';
import { chatRequest } from './request.ts';
import { rerankRequest } from './rerank.ts';

export interface CohereOptions extends ConnectionOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
}

const CHAT = '/v1/chat/completions';
const RERANK = '/v1/rerank';
const EMBEDDINGS = '/v1/embeddings';
const headersFor = (accept: string) => ['content-type', 'application/json', 'accept', accept];

/**
 * Cohere (`https://api.cohere.com`): chats and rankings by its own API, version 2; embeddings by the surface for OpenAI's clients that it has
 * beside it (docs.cohere.com/docs/compatibility-api).
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function cohere(options: CohereOptions): UpstreamProvider {
  const { apiKey, clock = systemClock } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const http = new ProviderHttp({ ...options, baseUrl: rootOf(options.baseUrl), ownHeaders, wordsOf: cohereWords });
  const chat = async (call: ChatCall) => {
    const accept = call.stream ? 'text/event-stream, application/json' : 'application/json';
    const outcome = await http.send(call, () => postedJson('/v2/chat', headersFor(accept), chatRequest(call))).catch(faultOfTranslation);
    return outcome.ok ? chatAnswer(outcome, call, Math.floor(clock.now() / 1000)) : outcome;
  };
  return {
    serves: (endpoint) => endpoint === CHAT || endpoint === RERANK || endpoint === EMBEDDINGS,
    call: async (call: UpstreamCall) => {
      switch (call.endpoint) {
        case CHAT:
          return chat(call);
        case RERANK:
          return http.send(call, () => postedJson('/v2/rerank', headersFor('application/json'), rerankRequest(call)));
        case EMBEDDINGS:
          return http.send(call, () => openAiRequest(call, 'max_tokens', { path: `/compatibility${call.endpoint}` }));
        default:
          return failed(`Cohere is not asked for ${call.endpoint}.`, null);
      }
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
