import { systemClock } from '../../../kernel/clock.ts';
import { chatAnswer } from '../anthropic/chat-answer.ts';
import { failed, faultOfTranslation, MAX_MESSAGE_CHARACTERS, printable } from '../fault.ts';
import { chatExchange, type Exchange, JSON_CONTENT, type Passage, translated } from '../google/exchange.ts';
import { contentMethod, nativeContentRequest } from '../google/native-request.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamEndpoint, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import type { Renewed } from '../renewed.ts';
import { accessTokens, renewedTokens, type TokenSource } from './access-token.ts';
import { chatBody, headersOf, isClaude, messagesBody, methodOf, vertexWords } from './claude.ts';
import { embedContentBody, embeddingExchange, hasOwnMethod, isEmbedding } from './embeddings.ts';

export interface VertexOptions extends ConnectionOptions {
  /** Google's project; without one only an API key's own (express mode). */
  readonly project?: string | undefined;
  /** A region, `global`, `us` or `eu`. */
  readonly location: string;
  /** Sent as `x-goog-api-key`. Without one, access tokens are fetched. */
  readonly apiKey?: string | undefined;
  /** Of a service account. */
  readonly keyFile?: string | undefined;
  /** Where access tokens come from; default: Google's own library. */
  readonly tokens?: TokenSource | undefined;
}

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const EMBEDDINGS = '/v1/embeddings';
const CONTENT = '/v1beta/models:generateContent';
const EMBED = '/v1beta/models:embedContent';

/** No access token could be had. */
class WithoutToken extends Error {}

/**
 * Google Vertex AI (`https://<location>-aiplatform.googleapis.com`): Gemini as Google's own API has it, whose requests pass as they are, and
 * Claude in Anthropic's words, whose Messages do.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function vertex(options: VertexOptions): UpstreamProvider {
  const { apiKey, keyFile, tokens: source, clock = systemClock } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: vertexWords });
  const tokens = apiKey === undefined ? renewedTokens(source ?? accessTokens(keyFile), clock) : undefined;

  const send = async (one: UpstreamCall, path: string, headers: readonly string[], body: object | Promise<object>) => {
    const outcome = await http.send(one, async () => postedJson(path, [...headers, ...(await authorizationBy(tokens))], await body));
    if (!outcome.ok && outcome.status === 401) tokens?.discard();
    return outcome;
  };
  const googles = ({ model }: UpstreamCall) => resourceOf(model, 'v1beta1', options);
  const claude = (one: UpstreamCall, body: object | Promise<object>) => send(one, claudePath(one, options), headersOf(one), body);
  const gemini = async (one: UpstreamCall, exchange: Exchange | Passage) => {
    const outcome = await send(one, exchange.path, JSON_CONTENT, exchange.body);
    return outcome.ok && 'translationOf' in exchange ? translated(outcome, exchange) : outcome;
  };
  const chat = async (one: ChatCall) => {
    if (!isClaude(one.model)) return gemini(one, await chatExchange(one, googles(one), clock));
    return chatAnswer(await claude(one, await chatBody(one)), { stream: one.stream, created: Math.floor(clock.now() / 1000) });
  };
  const asked = async (one: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> => {
    switch (one.endpoint) {
      case CHAT:
        return chat(one);
      case MESSAGES:
        return claude(one, messagesBody(one));
      case CONTENT:
        return gemini(one, { path: `${googles(one)}:${contentMethod(one)}`, body: withoutTier(nativeContentRequest(one)) });
      case EMBED:
        return gemini(one, { path: `${googles(one)}:embedContent`, body: embedContentBody(one.request) });
      case EMBEDDINGS:
        return gemini(one, embeddingExchange(one, googles(one)));
      default:
        return failed(`Vertex is not asked for ${one.endpoint}.`, null);
    }
  };

  return {
    serves,
    readsGoogleFields: (model) => !isClaude(model),
    call: (one) => asked(one).catch(faultOf),
    async close() {
      tokens?.close();
      await http.close();
    },
  };
}

async function authorizationBy(tokens: Pick<Renewed<string>, 'get'> | undefined): Promise<string[]> {
  try {
    return tokens ? ['authorization', `Bearer ${await tokens.get()}`] : [];
  } catch (error) {
    throw new WithoutToken(error instanceof Error ? error.message : '', { cause: error });
  }
}

function serves(endpoint: UpstreamEndpoint, model?: string): boolean {
  if (endpoint === CHAT) return model === undefined || !isEmbedding(model);
  if (endpoint === MESSAGES) return model === undefined || isClaude(model);
  if (endpoint === CONTENT) return model === undefined || !(isEmbedding(model) || isClaude(model));
  if (endpoint === EMBED) return model === undefined || (isEmbedding(model) && hasOwnMethod(model));
  return endpoint === EMBEDDINGS && (model === undefined || isEmbedding(model));
}

function faultOf(error: unknown): UpstreamFault {
  if (!(error instanceof WithoutToken)) return faultOfTranslation(error);
  return failed(`No access token of Google could be had: ${printable(error.message, MAX_MESSAGE_CHARACTERS)}`, null);
}

/** Vertex is asked for a tier in another way, and for none here: the standard one. */
const withoutTier = (request: object): object => ({ ...request, serviceTier: undefined });

const claudePath = (call: UpstreamCall, options: VertexOptions): string => `${resourceOf(call.model, 'v1', options)}:${methodOf(call)}`;

/** From the root. A name with its publisher (`publishers/…/models/…`), or an endpoint, is taken as it is. */
function resourceOf(model: string, version: string, { project, location }: VertexOptions): string {
  const place = project === undefined ? '' : `/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`;
  const name = model.includes('/') ? model : `publishers/${isClaude(model) ? 'anthropic' : 'google'}/models/${model}`;
  // `claude-sonnet-4-5@20250929`
  return `/${version}${place}/${name.split('/').map(encodeURIComponent).join('/').replaceAll('%40', '@')}`;
}
