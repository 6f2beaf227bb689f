import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../../kernel/clock.ts';
import { statedUsage } from '../../../kernel/stated-usage.ts';
import { readArguments, writtenArguments } from '../../../kernel/tool-arguments.ts';
import { inTurns } from '../../../kernel/turn.ts';
import { writtenJson } from '../../../kernel/written-json.ts';
import { failed, faultOfTranslation } from '../fault.ts';
import { isRecord, jsonInBytes } from '../json-value.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamCallOf, UpstreamEndpoint, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { type DocumentTranslation, TranslatedAnswer, TranslatedDocument, type Translation } from '../translated-answer.ts';
import { givenToTools } from './candidate.ts';
import { ChunkStream } from './chunk-stream.ts';
import { completionOf } from './completion.ts';
import { argumentsIn } from './contents.ts';
import { batchEmbedRequest, embeddingList, embeddingUsage } from './embeddings.ts';
import { googleWords } from './error-words.ts';
import { generateContentRequest } from './request.ts';
import { usageOf } from './usage.ts';

export interface GoogleOptions extends ConnectionOptions {
  /** Sent as `x-goog-api-key`: in the URL, where Google takes it too, it would stand in logs. */
  readonly apiKey?: string | undefined;
}

const ENDPOINTS: ReadonlySet<UpstreamEndpoint> = new Set<UpstreamEndpoint>(['/v1/chat/completions', '/v1/embeddings']);
const JSON_CONTENT = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];

/** What a call becomes: what is posted where, and how the answer is read. */
interface Exchange {
  readonly path: string;
  readonly body: object;
  readonly translation: Translation | DocumentTranslation;
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
      try {
        const exchange = await exchangeOf(call, clock);
        if ('ok' in exchange) return exchange;
        const { path, body, translation } = exchange;
        const outcome = await http.send(call, () => postedJson(path, JSON_CONTENT, body));
        return outcome.ok ? translated(outcome, translation) : outcome;
      } catch (error) {
        return faultOfTranslation(error);
      }
    },
    close: () => http.close(),
  };
}

const translated = (answer: UpstreamAnswer, translation: Translation | DocumentTranslation): UpstreamAnswer =>
  'push' in translation ? new TranslatedAnswer(answer, translation) : new TranslatedDocument(answer, translation);

async function exchangeOf(call: UpstreamCall, clock: Clock): Promise<Exchange | UpstreamFault> {
  switch (call.endpoint) {
    case '/v1/chat/completions':
      return chatExchange(call, clock);
    case '/v1/embeddings':
      return embeddingExchange(call);
    default:
      return failed(`Google is not asked for ${call.endpoint}.`, null);
  }
}

async function chatExchange(call: ChatCall, clock: Clock): Promise<Exchange> {
  const { model, stream, request } = call;
  const context = {
    model,
    created: Math.floor(clock.now() / 1000),
    id: randomUUID().replaceAll('-', ''),
    oneCallOnly: request.parallel_tool_calls === false,
  };
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    path: `/${resourceOf(model)}:${method}`,
    body: generateContentRequest(call, await readArguments(argumentsIn(request.messages))),
    translation: stream
      ? new ChunkStream(context)
      : jsonBody(
          async (document) =>
            inTurns(completionOf(document, context, await writtenArguments(isRecord(document) ? givenToTools(document) : []))),
          (found) => usageOf(statedUsage(found)),
        ),
  };
}

function embeddingExchange({ model, request }: UpstreamCallOf<'/v1/embeddings'>): Exchange {
  const resource = resourceOf(model);
  return {
    path: `/${resource}:batchEmbedContents`,
    body: batchEmbedRequest(request, resource),
    translation: jsonBody((document) => inTurns(embeddingList(document, request, model)), embeddingUsage),
  };
}

/** `gemini-2.5-pro` is `models/gemini-2.5-pro`; a name with its kind (`tunedModels/…`) is taken as it is. */
const resourceOf = (model: string): string =>
  (model.includes('/') ? model : `models/${model}`).split('/').map(encodeURIComponent).join('/');

/** What is no answer is passed on as it is: whoever reads it says so, and nothing is made up. */
const jsonBody = (
  translate: (document: unknown) => object | undefined | Promise<object | undefined>,
  usageIn: DocumentTranslation['usageIn'],
): DocumentTranslation => ({
  contentType: 'application/json',
  async translate(body) {
    const answer = await translate(await jsonInBytes(body));
    return answer ? writtenJson(answer) : body;
  },
  usageIn,
});
