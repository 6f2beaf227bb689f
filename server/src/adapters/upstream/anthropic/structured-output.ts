import type { ChatCompletionRequest } from '@tallygate/contract';
import type { Json } from '../json-value.ts';
import type { TextBlock, Tool, ToolChoice } from './messages-api.ts';
import type { ModelTraits } from './model-traits.ts';
import { outputSchema } from './output-schema.ts';
import type { ToolUse } from './tools.ts';

/** How the shape of the answer is asked for. At most one member is there. */
export interface StructuredOutput {
  /** For `output_config`. */
  readonly format?: Json;
  /** A tool whose input is the answer, for models that cannot be held to a schema otherwise. */
  readonly tool?: Tool;
  /** For the system prompt. */
  readonly instruction?: TextBlock;
}

/** Name of the tool whose input is the answer; no caller's tool will have it. */
export const ANSWER_TOOL = 'tallygate_structured_answer';

const JSON_OBJECT: TextBlock = { type: 'text', text: 'Answer with one valid JSON object and nothing else: no prose, no code fences.' };

export function structuredOutputOf(
  { response_format: format }: ChatCompletionRequest,
  { hasOutputFormat }: Pick<ModelTraits, 'hasOutputFormat'>,
): StructuredOutput {
  const named = format?.type === 'json_schema' ? format.json_schema : undefined;
  const schema = named?.schema;
  if (!schema) return !format || format.type === 'text' ? {} : { instruction: JSON_OBJECT };
  if (hasOutputFormat) return { format: { type: 'json_schema', schema: outputSchema(schema) } };
  const told = typeof named['description'] === 'string' ? `${named['description']}\n\n` : '';
  return { tool: { name: ANSWER_TOOL, description: `${told}Gives the answer to the user.`, input_schema: { type: 'object', ...schema } } };
}

/** The caller's tools and the one that answers: one of them has to be called. */
export function withAnswerTool({ tools = [], tool_choice: choice }: ToolUse, answer: Tool): ToolUse {
  if (choice?.type === 'tool') return { tools: [...tools, answer], tool_choice: choice };
  const isAlone = tools.length === 0 || choice?.type === 'none';
  const forced: ToolChoice = isAlone ? { type: 'tool', name: answer.name } : { type: 'any' };
  return { tools: [...tools, answer], tool_choice: { ...forced, disable_parallel_tool_use: true } };
}
