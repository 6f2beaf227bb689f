import type { ChatCompletionRequest } from '@tallygate/contract';
import { NONE_READ } from '../../../../kernel/tool-arguments.ts';
import { conversationOf } from '../../anthropic/conversation.ts';
import type * as Anthropic from '../../anthropic/messages-api.ts';
import { refuseWhatCannotBeDone, stopsOf } from '../../anthropic/request.ts';
import { structuredOutputOf, withAnswerTool } from '../../anthropic/structured-output.ts';
import { type ToolUse, toolUseOf } from '../../anthropic/tools.ts';
import type { Json } from '../../json-value.ts';
import type { ChatCall } from '../../port.ts';
import { familyOf } from '../model-family.ts';
import { Blocks } from './blocks.ts';
import type { ConverseRequest, ToolConfig } from './converse-api.ts';
import { thinkingFields } from './thinking.ts';

const NO_CALLS: Anthropic.TextBlock = { type: 'text', text: 'Answer without calling a tool.' };

/**
 * OpenAI's chat completion as a request of Converse: first in Anthropic's words, which have the same parts. What only steers chance (`seed`,
 * penalties, `top_k`) is left out.
 * @param read arguments of tools that are large
 * @throws Untranslatable where leaving something out would change what is asked for
 */
export function converseRequest({ model, request, maxOutputTokens }: ChatCall, read = NONE_READ): ConverseRequest {
  refuseWhatCannotBeDone(request);
  const family = familyOf(model);
  const { system, turns } = conversationOf(request.messages, read);
  const { tool, instruction } = structuredOutputOf(request, { hasOutputFormat: false });
  const offered = toolUseOf(request, turns);
  const toolUse = tool ? withAnswerTool(offered, tool) : offered;
  const isForbidden = toolUse.tool_choice?.type === 'none' && toolUse.tools !== undefined;
  const mustBeDeclared = turns.some(({ content }) => content.some(({ type }) => type === 'tool_use'));
  const prompt = [...system, ...(instruction ? [instruction] : []), ...(isForbidden && mustBeDeclared ? [NO_CALLS] : [])];
  const blocks = new Blocks(family);
  return {
    messages: blocks.messages(turns, request['cache_control']),
    system: prompt.length === 0 ? undefined : prompt.flatMap((block) => [{ text: block.text }, ...blocks.cachePoint(block)]),
    inferenceConfig: { maxTokens: maxOutputTokens, ...samplingOf(request), stopSequences: stopsOf(request.stop) },
    toolConfig: isForbidden && !mustBeDeclared ? undefined : toolConfigOf(toolUse, blocks),
    additionalModelRequestFields: thinkingFields(request, { family, maxTokens: maxOutputTokens }),
  };
}

/** Temperatures end at 1 here. */
function samplingOf({ temperature, top_p: topP }: ChatCompletionRequest): { temperature?: number; topP?: number } {
  return {
    ...(typeof temperature === 'number' && { temperature: Math.min(temperature, 1) }),
    ...(typeof topP === 'number' && { topP }),
  };
}

function toolConfigOf({ tools = [], tool_choice: choice }: ToolUse, blocks: Blocks): ToolConfig | undefined {
  if (tools.length === 0) return undefined;
  return {
    tools: tools.flatMap((tool) => [
      { toolSpec: { name: tool.name, description: tool.description, inputSchema: { json: tool.input_schema } } },
      ...blocks.cachePoint(tool),
    ]),
    toolChoice: choiceOf(choice),
  };
}

/** `auto` is what is done anyway, and some models refuse to be told. */
function choiceOf(choice: Anthropic.ToolChoice | undefined): Json | undefined {
  if (choice?.type === 'any') return { any: {} };
  return choice?.type === 'tool' ? { tool: { name: choice.name } } : undefined;
}
