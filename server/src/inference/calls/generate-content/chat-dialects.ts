import { ChatCompletionRequest, type GenerateContentRequest, type GoogleTool } from '@tallygate/contract';
import { googleTierIn } from '../../../adapters/upstream/port.ts';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { Problem } from '../../../kernel/problem.ts';
import type { WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { CatalogModel } from '../../../money/catalog/index.ts';
import type { AnswerForm } from '../answer-form.ts';
import type { Dialect, ProviderTraits } from '../dialect.ts';
import { effortOfBudget } from '../effort-of-budget.ts';
import type { Json } from '../event-data.ts';
import { askedTier } from '../service-tier.ts';
import { type ToolNames, toolNames } from '../tool-names.ts';
import { chatMessages } from './chat-conversation.ts';
import { jsonSchemaOf } from './json-schema.ts';

const CHAT = '/v1/chat/completions';
type Config = NonNullable<GenerateContentRequest['generationConfig']>;

interface Asked {
  readonly request: GenerateContentRequest;
  readonly model: string;
  readonly isStream: boolean;
  readonly written: WrittenArguments;
}

/** The request as chats: for providers that read what Google adds to them; for models that reason at others, by an effort; for all others. */
export interface Chats {
  /** The one with the most in it: what the prompt is bounded by. */
  readonly google: ChatCompletionRequest;
  readonly names: ToolNames;
  dialects(form: AnswerForm): [Dialect, ...Dialect[]];
}

const readsGoogle = (_: CatalogModel, { readsGoogleFields }: ProviderTraits): boolean => readsGoogleFields;
const reasons = ({ capabilities }: CatalogModel): boolean => capabilities.has('reasoning');

/** @throws Problem `validation_failed` for what is no chat: a schema that is none, or a turn that says nothing */
export function chatsOf(asked: Asked): Chats {
  const names = toolNames(declarationsIn(asked.request.tools).map(({ name }) => name));
  const google = chatOf({ ...chatFields(asked, names, true), ...googlesOwn(asked.request.generationConfig) });
  // Most requests in Google's words are for its API: for others they are translated where they are first asked for.
  let plain: ChatCompletionRequest | undefined;
  const others = () => (plain ??= chatOf(chatFields(asked, names, false)));
  const effort = effortOf(asked.request.generationConfig?.thinkingConfig);
  return {
    ...{ google, names },
    dialects: (form) => [
      { endpoint: CHAT, request: google, form, suits: readsGoogle },
      ...(effort === undefined ? [] : [reasoning(form, others, effort)]),
      {
        ...{ endpoint: CHAT, form },
        get request() {
          return others();
        },
        suits: (model, upstream) => !readsGoogle(model, upstream),
      },
    ],
  };
}

const reasoning = (form: AnswerForm, chat: () => ChatCompletionRequest, effort: string): Dialect => ({
  ...{ endpoint: CHAT, form },
  get request() {
    return { ...chat(), reasoning_effort: effort };
  },
  suits: (model, upstream) => !readsGoogle(model, upstream) && reasons(model),
});

function chatOf(fields: Json): ChatCompletionRequest {
  const { success, data, error } = ChatCompletionRequest.safeParse(fields);
  if (success) return data;
  throw noChat(error.issues);
}

const noChat = (issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string; readonly code: string }[]): Problem =>
  invalidInput(issues.map(({ path, message, code }) => ({ loc: ['body', ...path.map(stepOf)], msg: message, type: code })));

const stepOf = (step: PropertyKey): string | number => (typeof step === 'number' ? step : String(step));

function chatFields({ request, model, isStream, written }: Asked, names: ToolNames, isSigned: boolean): Json {
  const { tools, generationConfig: config, serviceTier } = request;
  const tier = askedTier(googleTierIn(serviceTier));
  const declared = declarationsIn(tools);
  return {
    model,
    ...(request.models && { models: request.models }),
    messages: chatMessages({ ...request, chatName: names.chatName, written, isSigned }),
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    ...(declared.length > 0 && { tools: declared.map((one) => chatTool(one, names)), ...choiceOf(request.toolConfig, names) }),
    ...(tier && { service_tier: tier }),
    ...(config && sampling(config)),
    ...(config && formatOf(config)),
  };
}

const declarationsIn = (tools: GenerateContentRequest['tools']) =>
  (tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []);

type Declaration = NonNullable<GoogleTool['functionDeclarations']>[number];

function chatTool({ name, description, parameters, parametersJsonSchema }: Declaration, { chatName }: ToolNames): Json {
  const schema = parametersJsonSchema ?? (parameters && jsonSchemaOf(parameters));
  return {
    type: 'function',
    function: { name: chatName(name), ...(description && { description }), ...(schema && { parameters: schema }) },
  };
}

function choiceOf(config: GenerateContentRequest['toolConfig'], { chatName }: ToolNames): Json {
  const { mode, allowedFunctionNames } = config?.functionCallingConfig ?? {};
  const functions = (allowedFunctionNames ?? []).map((name) => ({ type: 'function', function: { name: chatName(name) } }));
  const [only, ...others] = functions;
  switch (mode) {
    case 'NONE':
      return { tool_choice: 'none' };
    case 'ANY':
      if (!only) return { tool_choice: 'required' };
      return { tool_choice: others.length === 0 ? only : { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: functions } } };
    case 'VALIDATED':
      return only ? { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: functions } } } : {};
    default:
      return mode === 'AUTO' ? { tool_choice: 'auto' } : {};
  }
}

function sampling(config: Config): Json {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, stopSequences, candidateCount } = config;
  return withoutNothing({
    n: candidateCount,
    temperature,
    top_p: topP,
    top_k: topK,
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    stop: stopSequences && stopSequences.length > 0 ? stopSequences : undefined,
    logprobs: config.responseLogprobs || undefined,
    top_logprobs: config.responseLogprobs ? config.logprobs : undefined,
  });
}

function formatOf({ responseMimeType, responseSchema, responseJsonSchema }: Config): Json {
  if (responseMimeType !== 'application/json') return {};
  const schema = responseJsonSchema ?? (responseSchema && jsonSchemaOf(responseSchema));
  return { response_format: schema ? { type: 'json_schema', json_schema: { name: 'answer', schema } } : { type: 'json_object' } };
}

/** What Google's own endpoint for OpenAI's clients reads of the thoughts. */
function googlesOwn(config: GenerateContentRequest['generationConfig']): Json {
  const { includeThoughts, thinkingBudget, thinkingLevel } = config?.thinkingConfig ?? {};
  const thinking = withoutNothing({
    include_thoughts: includeThoughts,
    thinking_budget: thinkingBudget,
    thinking_level: thinkingLevel === 'THINKING_LEVEL_UNSPECIFIED' ? undefined : thinkingLevel?.toLowerCase(),
  });
  return Object.keys(thinking).length === 0 ? {} : { extra_body: { google: { thinking_config: thinking } } };
}

/** A budget of so many tokens is the least effort, which Anthropic's API does not have. */
const MINIMAL_BUDGET = 1_024;

/** What a level or a budget of thought means to a model that reasons by an effort. */
function effortOf(config: Config['thinkingConfig']): string | undefined {
  const { thinkingBudget: budget, thinkingLevel: level } = config ?? {};
  if (level && level !== 'THINKING_LEVEL_UNSPECIFIED') return level.toLowerCase();
  if (typeof budget !== 'number' || budget < 0) return undefined;
  return budget <= MINIMAL_BUDGET ? 'minimal' : effortOfBudget(budget);
}

const withoutNothing = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
