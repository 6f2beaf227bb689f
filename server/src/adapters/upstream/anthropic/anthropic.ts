import { systemClock } from '../../../kernel/clock.ts';
import { failed, Untranslatable } from '../fault.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp } from '../provider-http.ts';
import { TranslatedAnswer, wholeBody } from '../translated-answer.ts';
import { completionBody } from './answer.ts';
import { refusalWords } from './refusal-words.ts';
import { messagesRequest } from './request.ts';
import { ChunkTranslation } from './stream.ts';

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
    const body = bodyOf(one);
    if (typeof body !== 'string') return body;
    const headers = ['content-type', 'application/json', 'accept', one.stream ? 'text/event-stream, application/json' : 'application/json'];
    const answer = await http.send(one, () => ({ method: 'POST', path: '/messages', headers, body }));
    if (!answer.ok) return answer;
    const created = Math.floor(clock.now() / 1000);
    const whole = () => wholeBody('application/json', (bytes) => completionBody(bytes, created));
    return new TranslatedAnswer(answer, one.stream ? new ChunkTranslation(created) : whole());
  };

  return { serves: (endpoint) => endpoint === CHAT, call, close: () => http.close() };
}

function bodyOf(call: ChatCall): string | UpstreamFault {
  try {
    return JSON.stringify(messagesRequest(call));
  } catch (error) {
    if (error instanceof Untranslatable) return error.fault;
    // The arguments of a tool call are JSON in a text, whose depth nobody has looked at before.
    if (error instanceof RangeError) return new Untranslatable('messages', 'The arguments of a tool call are nested too deep.').fault;
    throw error;
  }
}
