import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { inTurns } from '../../../kernel/turn.ts';
import { failed, faultOfTranslation } from '../fault.ts';
import type { UpstreamCall, UpstreamCallOf, UpstreamEndpoint, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { batchEmbedRequest, embeddingList, embeddingUsage } from './embeddings.ts';
import { googleWords } from './error-words.ts';
import { chatExchange, type Exchange, JSON_CONTENT, jsonBody, type Passage, translated } from './exchange.ts';
import { contentMethod, nativeBatchEmbedRequest, nativeContentRequest, nativeEmbedRequest } from './native-request.ts';

export interface GoogleOptions extends ConnectionOptions {
  /** Sent as `x-goog-api-key`: in the URL, where Google takes it too, it would stand in logs. */
  readonly apiKey?: string | undefined;
}

const CONTENT = '/v1beta/models:generateContent';
const EMBED = '/v1beta/models:embedContent';
const BATCH_EMBED = '/v1beta/models:batchEmbedContents';
const ENDPOINTS: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>([
  ...['/v1/chat/completions' as const, '/v1/embeddings' as const],
  ...([CONTENT, EMBED, BATCH_EMBED] as const),
]);

/**
 * Google's Gemini API (`https://generativelanguage.googleapis.com/v1beta`): its own requests and answers pass as they are, and OpenAI's chats
 * and embeddings are translated.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function google(options: GoogleOptions): UpstreamProvider {
  const { apiKey, clock = systemClock } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: googleWords });
  return {
    serves: (endpoint) => ENDPOINTS.has(endpoint),
    readsGoogleFields: () => true,
    takesServiceTiers: true,
    call: async (call) => {
      try {
        const exchange = await exchangeOf(call, clock);
        if ('ok' in exchange) return exchange;
        const outcome = await http.send(call, () => postedJson(exchange.path, JSON_CONTENT, exchange.body));
        return outcome.ok && 'translationOf' in exchange ? translated(outcome, exchange) : outcome;
      } catch (error) {
        return faultOfTranslation(error);
      }
    },
    close: () => http.close(),
  };
}

async function exchangeOf(call: UpstreamCall, clock: Clock): Promise<Exchange | Passage | UpstreamFault> {
  switch (call.endpoint) {
    case CONTENT:
      return { path: `/${resourceOf(call.model)}:${contentMethod(call)}`, body: nativeContentRequest(call) };
    case EMBED:
      return { path: `/${resourceOf(call.model)}:embedContent`, body: nativeEmbedRequest(call.request) };
    case BATCH_EMBED: {
      const resource = resourceOf(call.model);
      return { path: `/${resource}:batchEmbedContents`, body: nativeBatchEmbedRequest(call.request, resource) };
    }
    case '/v1/chat/completions':
      return chatExchange(call, `/${resourceOf(call.model)}`, clock);
    case '/v1/embeddings':
      return embeddingExchange(call);
    default:
      return failed(`Google is not asked for ${call.endpoint}.`, null);
  }
}

function embeddingExchange({ model, request }: UpstreamCallOf<'/v1/embeddings'>): Exchange {
  const resource = resourceOf(model);
  return {
    path: `/${resource}:batchEmbedContents`,
    body: batchEmbedRequest(request, resource),
    translationOf: () => jsonBody((document) => inTurns(embeddingList(document, request, model)), embeddingUsage),
  };
}

/** `gemini-2.5-pro` is `models/gemini-2.5-pro`; a name with its kind (`tunedModels/…`) is taken as it is. */
const resourceOf = (model: string): string =>
  (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');
