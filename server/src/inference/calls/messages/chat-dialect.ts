import { hash } from 'node:crypto';
import { ChatCompletionRequest, type MessagesRequest, type MessageTool } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { Problem } from '../../../kernel/problem.ts';
import type { WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { AnswerForm } from '../answer-form.ts';
import { costCheckOf } from '../cost-fields/index.ts';
import type { Dialect, ProviderTraits } from '../dialect.ts';
import { effortOfBudget } from '../effort-of-budget.ts';
import type { Json } from '../event-data.ts';
import { toolNames } from '../tool-names.ts';
import { isRecord } from '../usage.ts';
import { chatMessages, type Naming } from './chat-conversation.ts';
import { messageFromChatForm } from './message-from-chat.ts';

const CHAT = '/v1/chat/completions';
const checkCost = costCheckOf(CHAT);

/**
 * The request for providers without Messages: for models that reason, and for all others. None where it has no like in a chat: Anthropic's own
 * tools (`bash_20250124`) only its models know.
 */
export function chatDialects(request: MessagesRequest, written: WrittenArguments): Dialect[] {
  if (!(request.tools ?? []).every(isCustom)) return [];
  const names = toolNames((request.tools ?? []).flatMap(({ name }) => name ?? []));
  const form = messageFromChatForm({ request, originalName: names.originalName });
  const versionFor = (readsGoogleFields?: boolean) =>
    dialectsOf(
      {
        form,
        effort: effortOf(request),
        reaches: (upstream) => readsGoogleFields === undefined || readsGoogleFields === upstream.readsGoogleFields,
      },
      () => chatRequest(request, { chatName: names.chatName, written, keepsExtra: readsGoogleFields !== false }),
    );
  return hasExtra(request) ? [...versionFor(true), ...versionFor(false)] : versionFor();
}

/** A signature of Google's, that its clients send back. */
const hasExtra = ({ messages }: MessagesRequest): boolean =>
  messages.some(({ content }) => Array.isArray(content) && content.some((block) => block['extra_content'] !== undefined));

interface Version {
  readonly form: AnswerForm;
  readonly effort: string | undefined;
  reaches(upstream: ProviderTraits): boolean;
}

function dialectsOf({ form, effort, reaches }: Version, fields: () => Json): Dialect[] {
  // Most requests in these words go to who speaks them: it is translated where it is first asked for.
  let translated: Translated | undefined;
  const chat = () => (translated ??= ChatCompletionRequest.safeParse(fields()));
  const plain: Dialect = {
    ...{ endpoint: CHAT, form },
    get request() {
      return requestOf(chat());
    },
    suits: (_, upstream) => reaches(upstream) && chat().success,
    refusal: () => refusalOf(chat()),
  };
  if (effort === undefined) return [plain];
  const reasoning: Dialect = {
    ...{ endpoint: CHAT, form },
    get request() {
      return { ...requestOf(chat()), reasoning_effort: effort };
    },
    suits: ({ capabilities }, upstream) => capabilities.has('reasoning') && reaches(upstream) && chat().success,
  };
  return [reasoning, plain];
}

type Translated = ReturnType<typeof ChatCompletionRequest.safeParse>;

/** Of one that suits. */
function requestOf({ success, data, error }: Translated): ChatCompletionRequest {
  if (!success) throw error;
  return data;
}

/** What a field that passes to any provider may not be in a chat (`stop: 7`), or what is left of a turn there: nothing. */
const refusalOf = ({ error }: Translated): Problem | undefined =>
  error &&
  invalidInput(
    error.issues.map(({ path, message, code }) => ({
      loc: ['body', ...path.map((step) => (typeof step === 'number' ? step : String(step)))],
      msg: message,
      type: code,
    })),
  );

/** Fields that a chat has under another name, or not at all; what is not named goes along, so that a new one works where it is known. */
const MESSAGES_ONLY = new Set([
  ...['model', 'models', 'provider', 'messages', 'system', 'max_tokens', 'stop_sequences', 'tools', 'tool_choice', 'thinking', 'metadata'],
  ...['output_config', 'service_tier', 'cache_control', 'context_management', 'inference_geo', 'speed', 'mcp_servers', 'container'],
  // What would be kept at the provider.
  'store',
]);

/** Nothing goes along that a chat would be charged for. @throws Problem `unpriced_feature`, `validation_failed` */
export const requireCostlessRest = (request: MessagesRequest): void => checkCost(restOf(request));

const restOf = (request: MessagesRequest): Json =>
  Object.fromEntries(Object.entries(request).filter(([name, value]) => !MESSAGES_ONLY.has(name) && value !== null && value !== undefined));

function chatRequest(request: MessagesRequest, naming: Naming): Json {
  const { chatName } = naming;
  const { model, tools, tool_choice: choice, stop_sequences: stops, metadata, output_config: output, service_tier: tier } = request;
  return {
    ...restOf(request),
    model,
    messages: chatMessages({ ...request, ...naming }),
    ...(tools && tools.length > 0 && { tools: tools.map((tool) => chatTool(tool, chatName)), ...choiceOf(choice, chatName) }),
    ...(stops && stops.length > 0 && { stop: stops }),
    ...(output?.format && { response_format: formatOf(output.format.schema) }),
    ...(metadata?.user_id && { user: userOf(metadata.user_id) }),
    ...(tier === 'standard_only' && { service_tier: 'default' }),
  };
}

const isCustom = ({ type }: MessageTool): boolean => type === undefined || type === null || type === 'custom';

const chatTool = ({ name = '', description, input_schema, strict }: MessageTool, chatName: (name: string) => string): Json => ({
  type: 'function',
  function: {
    name: chatName(name),
    ...(typeof description === 'string' && { description }),
    parameters: input_schema,
    ...(typeof strict === 'boolean' && { strict }),
  },
});

function choiceOf(choice: MessagesRequest['tool_choice'], chatName: (name: string) => string): Json {
  if (!choice) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  if (choice.type === 'tool') return { tool_choice: { type: 'function', function: { name: chatName(choice.name ?? '') } }, ...parallel };
  return { tool_choice: choice.type === 'any' ? 'required' : choice.type, ...parallel };
}

const formatOf = (schema: Json): Json => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema, ...(isClosed(schema) && { strict: true }) },
});

/** Whether OpenAI can hold an answer to it: every object closed, and all of its members required. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (!isRecord(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  const isWhole = Array.isArray(required) ? names.every((name) => required.includes(name)) : names.length === 0;
  if (schema['type'] === 'object' && (additionalProperties !== false || !isWhole)) return false;
  return Object.values(schema).every(isClosed);
}

const LONGEST_USER = 64;
/** OpenAI takes no longer id; clients of Anthropic write JSON there. */
const userOf = (id: string): string => (id.length <= LONGEST_USER ? id : hash('sha256', id, 'hex'));

/** What `output_config.effort`, or a budget for thoughts, means to a model that reasons by an effort. */
function effortOf({ thinking, output_config: output }: MessagesRequest): string | undefined {
  const effort = output?.effort;
  if (typeof effort === 'string') return effort === 'max' ? 'high' : effort;
  if (thinking?.type !== 'enabled') return undefined;
  return effortOfBudget(thinking.budget_tokens ?? 0);
}
