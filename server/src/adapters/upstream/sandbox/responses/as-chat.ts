import type { ChatCompletionRequest, ResponseRequest } from '@tallygate/contract';
import type { Rejection } from '../rejection.ts';
import { isRecord, recordAt } from '../schema/json-schema.ts';

type Message = ChatCompletionRequest['messages'][number];
type Part = Exclude<NonNullable<Message['content']>, string>[number];
type Tool = NonNullable<ChatCompletionRequest['tools']>[number];
type Item = Readonly<Record<string, unknown>>;

/** The same question as a chat, so that both endpoints answer alike, and where each of its messages came from. */
export interface AsChat {
  readonly request: ChatCompletionRequest;
  /** For each message its place in the `input`; -1 for the instructions. */
  readonly origins: readonly number[];
}

export function asChat({ model, input, instructions, tools, tool_choice, parallel_tool_calls, text, reasoning }: ResponseRequest): AsChat {
  const items: readonly Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const said = items.flatMap((item, index) => messageOf(item).map((message) => ({ message, index })));
  const before: Message[] = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  const format = text?.format;
  return {
    request: {
      model,
      messages: [...before, ...said.map(({ message }) => message)],
      tools: (tools ?? []).map(toolOf),
      tool_choice: toolChoiceOf(tool_choice),
      parallel_tool_calls: parallel_tool_calls ?? true,
      reasoning_effort: reasoning?.effort,
      ...(format && { response_format: formatOf(format) }),
    },
    origins: [...before.map(() => -1), ...said.map(({ index }) => index)],
  };
}

/** What is wrong with the chat, said of the request that it was made from. */
export function asResponseRejection(rejected: Rejection, origins: readonly number[]): Rejection {
  const param = rejected.param
    ?.replace(/^messages\[(\d+)\]/, (_, index) => `input[${origins[Number(index)] ?? 0}]`)
    .replace('.function.parameters', '.parameters')
    .replace('.custom.format', '.format')
    .replace('response_format.json_schema.schema', 'text.format.schema');
  return { ...rejected, param: param ?? null };
}

function messageOf(item: Item): Message[] {
  switch (item['type'] ?? 'message') {
    case 'message':
      return [{ role: roleOf(item['role']), content: contentOf(item['content']) }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ role: 'tool', content: contentOf(item['output']) }];
    case 'function_call':
    case 'custom_tool_call':
      return [{ role: 'assistant', content: null }];
    default:
      // Reasoning, references and calls of hosted tools: they came from a model and say nothing new.
      return [];
  }
}

const roleOf = (role: unknown): Message['role'] => (role === 'assistant' || role === 'system' || role === 'developer' ? role : 'user');

function contentOf(content: unknown): NonNullable<Message['content']> {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content);
  return content.filter(isRecord).flatMap(partOf);
}

function partOf(part: Item): Part[] {
  const { type, text, image_url: url, file_id: id, filename } = part;
  if (typeof text === 'string') return [{ type: 'text', text }];
  if (type === 'input_image' && typeof url === 'string') return [{ type: 'image_url', image_url: { url } }];
  if (type === 'input_image' || type === 'input_file') return [{ type: 'file', file: { file_id: id, filename } }];
  const { data, format } = recordAt(part, 'input_audio');
  if (typeof data === 'string' && typeof format === 'string') return [{ type: 'input_audio', input_audio: { data, format } }];
  return [];
}

/** Hosted tools keep their place: they are no calls of the answer. */
function toolOf({ type, ...tool }: { readonly type: string; readonly [member: string]: unknown }): Tool {
  const { name, parameters, format } = tool;
  if (typeof name !== 'string') return { type };
  if (type === 'function') return { type, function: { name, ...(isRecord(parameters) && { parameters }) } };
  return type === 'custom' ? { type, custom: { name, format: { grammar: format } } } : { type };
}

function toolChoiceOf(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  if (choice['type'] === 'allowed_tools') return { allowed_tools: choice };
  return choice['type'] === 'function' || choice['type'] === 'custom' ? choice : 'none';
}

function formatOf({ type, ...format }: { readonly type: 'text' | 'json_object' | 'json_schema'; readonly [member: string]: unknown }) {
  const { name, schema } = format;
  if (type !== 'json_schema') return { type };
  return { type, json_schema: { name: typeof name === 'string' ? name : 'answer', ...(isRecord(schema) && { schema }) } };
}
