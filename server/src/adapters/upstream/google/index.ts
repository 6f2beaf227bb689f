import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { failed, Untranslatable } from '../fault.ts';
import { jsonIn } from '../json-value.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamCallOf, UpstreamEndpoint, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, type ProviderRequest } from '../provider-http.ts';
import { TranslatedAnswer, type Translation, wholeBody } from '../translated-answer.ts';
import { ChunkStream } from './chunk-stream.ts';
import { completionOf } from './completion.ts';
import { batchEmbedRequest, embeddingList } from './embeddings.ts';
import { googleWords } from './error-words.ts';
import { generateContentRequest } from './request.ts';

export interface GoogleOptions extends ConnectionOptions {
  /** Sent as `x-goog-api-key`: in the URL, where Google takes it too, it would stand in logs. */
  readonly apiKey?: string | undefined;
}

const ENDPOINTS: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>(['/v1/chat/completions', '/v1/embeddings']);
const JSON_CONTENT = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];

/** What a call becomes: the request that is sent, and how the answer is read. */
interface Exchange {
  readonly request: ProviderRequest;
  readonly translation: Translation;
}

/**
 * Google's Gemini API (`https://generativelanguage.googleapis.com/v1beta`), translated from and into OpenAI's.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function google(options: GoogleOptions): UpstreamProvider {
  const { apiKey, clock = systemClock } = options;
  const ownHeaders: Record<string, string> = apiKey === undefined ? {} : { 'x-goog-api-key': apiKey };
  const http = new ProviderHttp({ ...options, ownHeaders, wordsOf: googleWords });
  return {
    serves: (endpoint) => ENDPOINTS.has(endpoint),
    call: async (call) => {
      const exchange = exchangeOf(call, clock);
      if ('ok' in exchange) return exchange;
      const outcome = await http.send(call, () => exchange.request);
      return outcome.ok ? translated(outcome, exchange.translation) : outcome;
    },
    close: () => http.close(),
  };
}

const translated = (answer: UpstreamAnswer, translation: Translation): UpstreamAnswer => new TranslatedAnswer(answer, translation);

function exchangeOf(call: UpstreamCall, clock: Clock): Exchange | UpstreamFault {
  try {
    switch (call.endpoint) {
      case '/v1/chat/completions':
        return chatExchange(call, clock);
      case '/v1/embeddings':
        return embeddingExchange(call);
      default:
        return failed(`Google is not asked for ${call.endpoint}.`, null);
    }
  } catch (error) {
    if (error instanceof Untranslatable) return error.fault;
    // The arguments of a tool call are JSON in a text, whose depth nobody has looked at before.
    if (error instanceof RangeError) return new Untranslatable('messages', 'The arguments of a tool call are nested too deep.').fault;
    throw error;
  }
}

function chatExchange(call: ChatCall, clock: Clock): Exchange {
  const { model, stream, request } = call;
  const context = {
    model,
    created: Math.floor(clock.now() / 1000),
    id: randomUUID().replaceAll('-', ''),
    oneCallOnly: request.parallel_tool_calls === false,
  };
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    request: post(`/${resourceOf(model)}:${method}`, generateContentRequest(call)),
    translation: stream ? new ChunkStream(context) : jsonBody((document) => completionOf(document, context)),
  };
}

function embeddingExchange({ model, request }: UpstreamCallOf<'/v1/embeddings'>): Exchange {
  const resource = resourceOf(model);
  return {
    request: post(`/${resource}:batchEmbedContents`, batchEmbedRequest(request, resource)),
    translation: jsonBody((document) => embeddingList(document, request, model)),
  };
}

/** `gemini-2.5-pro` is `models/gemini-2.5-pro`; a name with its kind (`tunedModels/…`) is taken as it is. */
const resourceOf = (model: string): string =>
  (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');

const post = (path: string, body: object): ProviderRequest => ({ method: 'POST', path, headers: JSON_CONTENT, body: JSON.stringify(body) });

/** What is no answer is passed on as it is: whoever reads it says so, and nothing is made up. */
const jsonBody = (translate: (document: unknown) => object | undefined): Translation =>
  wholeBody('application/json', (body) => {
    const answer = translate(jsonIn(body.toString()));
    return answer ? Buffer.from(JSON.stringify(answer)) : body;
  });
