import { ChatCompletionRequest, type ResponseItem, type ResponseRequest } from '@tallygate/contract';
import type { AnswerForm } from '../answer-form.ts';
import type { Dialect } from '../dialect.ts';
import { isRecord } from '../usage.ts';
import { chatMessages, hasLikeInChat } from './chat-messages.ts';

type Json = Readonly<Record<string, unknown>>;

/** The request for providers that have chat completions only; undefined where it has no like among those: nothing is left out unsaid. */
export function chatDialect(request: ResponseRequest, items: readonly ResponseItem[], form: AnswerForm): Dialect | undefined {
  if (!items.every(hasLikeInChat) || request.tools?.some(({ type }) => !isChatTool(type))) return undefined;
  // Most requests in these words go to a provider that has them: it is translated where it is first asked for.
  let translated: ReturnType<typeof ChatCompletionRequest.safeParse> | undefined;
  const chat = () => (translated ??= ChatCompletionRequest.safeParse(chatRequest(request, items)));
  return {
    endpoint: '/v1/chat/completions',
    get request() {
      const { success, data, error } = chat();
      if (!success) throw error;
      return data;
    },
    suits: () => chat().success,
    form,
  };
}

/** Fields of the same name and meaning; what is not named goes along, so that a new parameter works where the provider knows it. */
const RESPONSES_ONLY = new Set([
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'reasoning',
  'text',
  'tools',
  'tool_choice',
  'include',
  'truncation',
  'store',
  'stream_options',
  'top_logprobs',
]);

function chatRequest(request: ResponseRequest, items: readonly ResponseItem[]): unknown {
  const { instructions, tools, tool_choice, text, reasoning } = request;
  const carried = Object.entries(request).filter(([name, value]) => !RESPONSES_ONLY.has(name) && value !== null && value !== undefined);
  const described = (tools ?? []).map(chatTool);
  return {
    ...Object.fromEntries(carried),
    messages: chatMessages(instructions, items),
    ...(described.length > 0 && {
      tools: described,
      ...(tool_choice !== undefined && tool_choice !== null && { tool_choice: chatToolChoice(tool_choice) }),
    }),
    ...(text?.format && text.format.type !== 'text' && { response_format: responseFormat(text.format) }),
    ...(text?.verbosity && { verbosity: text.verbosity }),
    ...(reasoning?.effort && { reasoning_effort: reasoning.effort }),
    ...(wantsLogprobs(request) && { logprobs: true, ...(request.top_logprobs && { top_logprobs: request.top_logprobs }) }),
  };
}

const wantsLogprobs = ({ top_logprobs, include }: ResponseRequest): boolean =>
  Boolean(top_logprobs) || (include?.includes('message.output_text.logprobs') ?? false);

const isChatTool = (type: string): boolean => type === 'function' || type === 'custom';

const chatTool = ({ type, ...tool }: Json & { readonly type: string }): Json =>
  type === 'custom' ? { type, custom: tool } : { type, function: tool };

function chatToolChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { type, mode, tools, name } = choice;
  if (type === 'allowed_tools') return { type, allowed_tools: { mode, tools: Array.isArray(tools) ? tools.map(chatToolChoice) : [] } };
  return type === 'custom' ? { type, custom: { name } } : { type: 'function', function: { name } };
}

/** Responses has the schema beside its type, chat one level below. */
const responseFormat = ({ type, ...schema }: Json & { readonly type: string }): Json =>
  type === 'json_schema' ? { type, json_schema: schema } : { type };
