import type { ResponseItem, ResponseRequest } from '@tallygate/contract';
import { isRecord } from '../usage.ts';

type Json = Record<string, unknown>;

/** Items as the messages of a chat. Reasoning of earlier turns has no place there and is left out. */
export function chatMessages(instructions: ResponseRequest['instructions'], items: readonly ResponseItem[]): Json[] {
  const messages: Json[] = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  for (const item of items) addItem(messages, item);
  return messages;
}

const TRANSLATED = new Set([
  'message',
  'function_call',
  'custom_tool_call',
  'function_call_output',
  'custom_tool_call_output',
  'reasoning',
]);
const TEXTS = new Set(['input_text', 'output_text', 'text']);

/** Whether a chat can carry the item: a tool's messages hold text alone there. */
export function hasLikeInChat({ type = 'message', output }: ResponseItem): boolean {
  if (!TRANSLATED.has(type)) return false;
  return !Array.isArray(output) || output.every((part) => !isRecord(part) || TEXTS.has(String(part['type'])));
}

function addItem(messages: Json[], item: ResponseItem): void {
  switch (item.type ?? 'message') {
    case 'message':
      messages.push({ role: item.role ?? 'user', content: contentOf(item['content'], item.role) });
      return;
    case 'function_call':
      addCall(messages, {
        id: item['call_id'],
        type: 'function',
        function: { name: item['name'], arguments: textOr(item['arguments'], '{}') },
      });
      return;
    case 'custom_tool_call':
      addCall(messages, { id: item['call_id'], type: 'custom', custom: { name: item['name'], input: textOr(item['input'], '') } });
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      messages.push({ role: 'tool', tool_call_id: item['call_id'], content: outputOf(item['output']) });
      return;
    default:
  }
}

/** Calls of one turn are in one message: providers refuse two assistants in a row. */
function addCall(messages: Json[], call: Json): void {
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant') last['tool_calls'] = [...(Array.isArray(last['tool_calls']) ? last['tool_calls'] : []), call];
  else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

function contentOf(content: unknown, role: string | undefined): unknown {
  if (!Array.isArray(content)) return textOr(content, '');
  const parts = content.filter(isRecord).map(partOf);
  // What an assistant said is text; many providers know no parts there.
  if (role === 'assistant' || parts.every(({ type }) => type === 'text')) return parts.map(({ text }) => textOr(text, '')).join('');
  return parts;
}

function partOf(part: Json): Json {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textOr(part['text'], '') };
    case 'refusal':
      return { type: 'text', text: textOr(part['refusal'], '') };
    case 'input_image':
      return { type: 'image_url', image_url: { url: part['image_url'], ...(part['detail'] ? { detail: part['detail'] } : {}) } };
    case 'input_file':
      return { type: 'file', file: { filename: part['filename'], file_data: part['file_data'], file_id: part['file_id'] } };
    default:
      return part;
  }
}

function outputOf(output: unknown): string {
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) return JSON.stringify(output ?? '');
  return output.map((part) => (isRecord(part) ? textOr(part['text'], '') : '')).join('');
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
