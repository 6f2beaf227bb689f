import type { ChatCompletionRequest } from '@tallygate/contract';
import { NONE_READ } from '../../../kernel/tool-arguments.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, textIn } from '../json-value.ts';
import type { ChatCall } from '../port.ts';
import { cacheControlIn } from './content.ts';
import { conversationOf } from './conversation.ts';
import type { MessagesRequest } from './messages-api.ts';
import { traitsOf } from './model-traits.ts';
import { samplingOf } from './sampling.ts';
import { structuredOutputOf, withAnswerTool } from './structured-output.ts';
import { isThinking, thinkingOf } from './thinking.ts';
import { toolUseOf } from './tools.ts';

/**
 * OpenAI's chat completion as a Messages request. Fields that Anthropic does not know are left out, since it refuses them; so are its own that
 * change what a token costs (`speed`, `inference_geo`) and those that steer only chance (`seed`, penalties).
 * @param read arguments of tools that are large
 * @throws Untranslatable where leaving something out would change what is asked for
 */
export function messagesRequest({ model, request, stream, maxOutputTokens }: ChatCall, read = NONE_READ): MessagesRequest {
  refuseWhatCannotBeDone(request);
  const traits = traitsOf(model);
  const { system, turns } = conversationOf(request.messages, read);
  const { format, tool, instruction } = structuredOutputOf(request, traits);
  const offered = toolUseOf(request, turns);
  const toolUse = tool ? withAnswerTool(offered, tool) : offered;
  const thinking = thinkingOf(request, { traits, maxTokens: maxOutputTokens, turns, toolChoice: toolUse.tool_choice });
  const { effort } = thinking;
  const prompt = instruction ? [...system, instruction] : system;
  return {
    model,
    max_tokens: maxOutputTokens,
    messages: turns,
    system: prompt.length === 0 ? undefined : prompt,
    ...toolUse,
    thinking: thinking.thinking,
    output_config: format || effort ? { format, effort } : undefined,
    ...samplingOf(request, traits, isThinking(thinking)),
    stop_sequences: stopsOf(request.stop),
    metadata: metadataOf(request),
    service_tier: serviceTierOf(request.service_tier),
    ...cacheControlIn(request),
    stream: stream || undefined,
  };
}

export function refuseWhatCannotBeDone(request: ChatCompletionRequest): void {
  const refuse = (param: string, what: string): never => {
    throw new Untranslatable(param, `The provider of this model ${what}.`);
  };
  if ((request.n ?? 1) > 1) refuse('n', 'gives one choice a request: repeat the request instead');
  if (request.logprobs || request.top_logprobs) refuse('logprobs', 'tells no log probabilities');
  if (request.logit_bias && Object.keys(request.logit_bias).length > 0) refuse('logit_bias', 'has no biases on tokens');
  if (request.modalities?.some((modality) => modality !== 'text')) refuse('modalities', 'answers in text only');
  if (isRecord(request['web_search_options'])) refuse('web_search_options', 'is not asked to search the web through this endpoint');
  if (Array.isArray(request['functions'])) refuse('functions', 'takes `tools`, which replaced `functions`');
}

export function stopsOf(stop: ChatCompletionRequest['stop']): string[] | undefined {
  const stops = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== '');
  return stops.length === 0 ? undefined : stops;
}

/** Whose request it is, for the provider's watch against abuse; OpenAI renamed the field. */
function metadataOf(request: ChatCompletionRequest): { user_id: string } | undefined {
  const userId = textIn(request['safety_identifier']) ?? textIn(request.user);
  return userId === undefined ? undefined : { user_id: userId };
}

function serviceTierOf(tier: ChatCompletionRequest['service_tier']): 'auto' | 'standard_only' | undefined {
  if (tier === 'auto') return 'auto';
  return tier === 'default' ? 'standard_only' : undefined;
}
