import { systemClock } from '../../../kernel/clock.ts';
import { readArguments } from '../../../kernel/tool-arguments.ts';
import { failed, faultOfTranslation } from '../fault.ts';
import type { ChatCall, UpstreamAnswer, UpstreamCall, UpstreamFault, UpstreamProvider } from '../port.ts';
import { type ConnectionOptions, ProviderHttp, postedJson } from '../provider-http.ts';
import { betasIn } from './betas.ts';
import { chatAnswer } from './chat-answer.ts';
import { argumentsIn } from './conversation.ts';
import { nativeRequest } from './native-request.ts';
import { refusalWords } from './refusal-words.ts';
import { messagesRequest } from './request.ts';

export interface AnthropicOptions extends Omit<ConnectionOptions, 'baseUrl'> {
  /** Default: Anthropic's own. */
  readonly baseUrl?: string | undefined;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string | undefined;
}

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const BASE_URL = 'https://api.anthropic.com/v1';
/** The only version since 2023; what is new comes without a new one. */
const VERSION = '2023-06-01';

/**
 * Anthropic's Messages API: its own requests and answers pass as they are, and OpenAI's chat completions are translated, whole or streamed.
 * @throws TypeError if `baseUrl` is no http or https URL, or carries credentials
 */
export function anthropic(options: AnthropicOptions): UpstreamProvider {
  const { apiKey, baseUrl = BASE_URL, clock = systemClock } = options;
  const ownHeaders = { 'anthropic-version': VERSION, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
  const http = new ProviderHttp({ ...options, baseUrl, ownHeaders, wordsOf: refusalWords });

  const chat = async (one: ChatCall): Promise<UpstreamAnswer | UpstreamFault> => {
    const build = async () => {
      const read = await readArguments(argumentsIn(one.request.messages));
      return postedJson('/messages', headersOf(one), messagesRequest(one, read));
    };
    const outcome = await http.send(one, build).catch(faultOfTranslation);
    return chatAnswer(outcome, { stream: one.stream, created: Math.floor(clock.now() / 1000) });
  };

  const call = async (one: UpstreamCall): Promise<UpstreamAnswer | UpstreamFault> => {
    switch (one.endpoint) {
      case CHAT:
        return chat(one);
      case MESSAGES:
        return http.send(one, () => postedJson('/messages', headersOf(one), nativeRequest(one)));
      default:
        return failed(`Anthropic has nothing like ${one.endpoint}.`, null);
    }
  };

  return { serves: (endpoint) => endpoint === CHAT || endpoint === MESSAGES, call, close: () => http.close() };
}

function headersOf({ stream, betas }: Pick<UpstreamCall, 'stream' | 'betas'>): string[] {
  const own = withoutLogin(betas);
  return [
    ...['content-type', 'application/json', 'accept', stream ? 'text/event-stream, application/json' : 'application/json'],
    ...(own === '' ? [] : ['anthropic-beta', own]),
  ];
}

/** What goes with a login of Anthropic's, which the caller has not sent here. */
const withoutLogin = (betas: string | undefined): string =>
  betasIn(betas)
    .filter((beta) => !beta.startsWith('oauth-'))
    .join(',');
