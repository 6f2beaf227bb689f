import type { ChatCompletionRequest } from '@tallygate/contract';
import { Untranslatable } from '../fault.ts';
import type { ChatCall } from '../port.ts';
import type { CohereChatRequest } from './chat-api.ts';
import { cohereMessages } from './messages.ts';
import { toolsOf } from './tools.ts';

/** Cohere's own limits. */
const MOST_STOP_SEQUENCES = 5;
const MOST_K = 500;

/**
 * A chat completion request as `/v2/chat` takes it. Fields that only hint (`user`, `metadata`, `store`, `prediction`, `verbosity`) and fields
 * that nobody knows are left out, since Cohere refuses what it does not know.
 *
 * @throws Untranslatable where leaving a field out would change what the request means
 */
export function chatRequest({ request, model, stream, maxOutputTokens }: ChatCall): CohereChatRequest {
  refuseWhatCannotBeDone(request);
  return {
    ...{ model, stream, messages: cohereMessages(request.messages), max_tokens: maxOutputTokens },
    ...toolsOf(request),
    ...formatOf(request),
    ...samplingOf(request),
    ...thinkingOf(request, model, maxOutputTokens),
    ...ownFields(request),
  };
}

function refuseWhatCannotBeDone(request: ChatCompletionRequest): void {
  const refuse = (param: string, message: string): never => {
    throw new Untranslatable(param, message);
  };
  if (request.n && request.n > 1) refuse('n', "This model's provider gives one choice.");
  if (request.logprobs) refuse('logprobs', "This model's provider tells log probabilities in no form that OpenAI has: remove `logprobs`.");
  if (Object.keys(request.logit_bias ?? {}).length > 0)
    refuse('logit_bias', "This model's provider cannot bias tokens: remove `logit_bias`.");
  if (Array.isArray(request['functions']) && request['functions'].length > 0)
    refuse('functions', 'Give this model its functions as `tools`.');
  if (request.tools && request.tools.length > 0 && request.response_format && request.response_format.type !== 'text')
    refuse('response_format', "This model's provider takes no `response_format` beside `tools`.");
}

function formatOf({ response_format: format }: ChatCompletionRequest): Pick<CohereChatRequest, 'response_format'> {
  if (!format || format.type === 'text') return {};
  const schema = format.type === 'json_schema' ? format.json_schema?.schema : undefined;
  return { response_format: { type: 'json_object', ...(schema && { json_schema: schema }) } };
}

const within = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** What only steers chance is brought within Cohere's limits. */
function samplingOf({ temperature, top_p, top_k, seed, stop, ...penalties }: ChatCompletionRequest): Partial<CohereChatRequest> {
  const { presence_penalty: presence, frequency_penalty: frequency } = penalties;
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence !== '');
  if (stops.length > MOST_STOP_SEQUENCES)
    throw new Untranslatable('stop', `This model's provider takes at most ${MOST_STOP_SEQUENCES} stop sequences.`);
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { p: within(top_p, 0.01, 0.99) }),
    ...(typeof top_k === 'number' && { k: within(top_k, 0, MOST_K) }),
    // It takes none below zero; any other number that is the same for the same seed does as well.
    ...(typeof seed === 'number' && { seed: Math.abs(seed) }),
    ...(typeof presence === 'number' && { presence_penalty: within(presence, 0, 1) }),
    ...(typeof frequency === 'number' && { frequency_penalty: within(frequency, 0, 1) }),
    ...(stops.length > 0 && { stop_sequences: stops }),
  };
}

/** The models that think do so unless they are told not to; the others refuse the field. */
const canThink = (model: string): boolean => /reasoning|command-a-plus/.test(model);

/** Tokens of thought at most; with a higher effort the bound alone limits them. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 2_048, medium: 8_192 };

/** Half of the bound is left for the answer, so that thinking does not take all of it. */
function thinkingOf(
  { reasoning_effort: effort }: ChatCompletionRequest,
  model: string,
  maxOutputTokens: number,
): Pick<CohereChatRequest, 'thinking'> {
  if (!canThink(model) || typeof effort !== 'string' || effort === 'default' || effort === 'auto') return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  const budget = Math.min(BUDGETS[effort] ?? Number.POSITIVE_INFINITY, Math.floor(maxOutputTokens / 2));
  return { thinking: { type: 'enabled', token_budget: Math.max(1, budget) } };
}

/** What Cohere alone has: documents are part of the prompt that is held, the others cost nothing. */
const OWN = ['documents', 'citation_options', 'safety_mode', 'strict_tools'] as const;
const ownFields = (request: ChatCompletionRequest): Partial<CohereChatRequest> =>
  Object.fromEntries(OWN.flatMap((name) => (request[name] === undefined || request[name] === null ? [] : [[name, request[name]]])));
