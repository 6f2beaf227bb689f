import { systemClock } from '../../../kernel/clock.ts';
import { failed, faultOfTranslation } from '../fault.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { TranslatedAnswer, TranslatedDocument } from '../translated-answer.ts';
import { completionBody } from './answer.ts';
import { refusalWords } from './refusal-words.ts';
import { messagesRequest } from './request.ts';
import { ChunkTranslation } from './stream.ts';
import { usageOf } from './usage.ts';

export interface AnthropicOptions extends Omit<ConnectionOptions, 'baseUrl'> {
  /** Default: Anthropic's own. */
  readonly baseUrl?: string | undefined;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string | undefined;
}

const CHAT = '/v1/chat/completions';
const BASE_URL = 'https://api.anthropic.com/v1';
/** The only version since 2023; what is new comes without a new one. */
const VERSION = '2023-06-01';

/**
 * Anthropic's Messages API behind OpenAI's chat completions: requests and answers are translated, whole or streamed.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function anthropic(options: AnthropicOptions): UpstreamProvider {
  const { apiKey, baseUrl = BASE_URL, clock = systemClock } = options;
  const ownHeaders = { 'anthropic-version': VERSION, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
  const http = new ProviderHttp({ ...options, baseUrl, ownHeaders, wordsOf: refusalWords });

  const call = async (one: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> => {
    if (one.endpoint !== CHAT) return failed(`Anthropic has nothing like ${one.endpoint}.`, null);
    const headers = ['content-type', 'application/json', 'accept', one.stream ? 'text/event-stream, application/json' : 'application/json'];
    const build = () => postedJson('/messages', headers, messagesRequest(one));
    const answer = await http.send(one, build).catch(faultOfTranslation);
    if (!answer.ok) return answer;
    const created = Math.floor(clock.now() / 1000);
    if (one.stream) return new TranslatedAnswer(answer, new ChunkTranslation(created));
    return new TranslatedDocument(answer, {
      contentType: 'application/json',
      translate: (body) => completionBody(body, created),
      usageIn: ({ usage }) => usageOf(usage),
    });
  };

  return { serves: (endpoint) => endpoint === CHAT, call, close: () => http.close() };
}
