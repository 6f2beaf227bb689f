import type { MessageContentBlock, MessageParam, MessagesRequest } from '@tallygate/contract';
import { argumentsText, type WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { Json } from '../event-data.ts';
import { isRecord } from '../usage.ts';

type Part = Json & { readonly type: string };

interface Conversation extends Pick<MessagesRequest, 'messages' | 'system'> {
  /** The name of a tool in the chat. */
  readonly chatName: (name: string) => string;
  /** Inputs of tools that are large. */
  readonly written: WrittenArguments;
  /** With what clients send back of Google's signatures. */
  readonly keepsExtra: boolean;
}

export type Naming = Pick<Conversation, 'chatName' | 'written' | 'keepsExtra'>;

/**
 * Turns as the messages of a chat: results of tools become messages of their own, in front of what else the turn says; pictures in them
 * stand behind. Thoughts of earlier turns have no place there, nor have marks for a prompt cache.
 */
export function chatMessages({ messages, system, ...naming }: Conversation): Json[] {
  const prompt = textOfSystem(system);
  return [...(prompt === '' ? [] : [{ role: 'system', content: prompt }]), ...messages.flatMap((turn) => turnOf(turn, naming))];
}

/** What the conversation has given to tools. */
export function* inputsOfTools({ messages }: Pick<MessagesRequest, 'messages'>): Generator<unknown> {
  for (const { content } of messages)
    if (typeof content !== 'string') for (const block of content) if (block.type === 'tool_use') yield block.input;
}

const textOfSystem = (system: MessagesRequest['system']): string =>
  typeof system === 'string' ? system : (system ?? []).map(({ text }) => text).join('\n\n');

function turnOf({ role, content }: MessageParam, naming: Naming): Json[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'assistant') return [assistantTurn(content, naming)];
  if (role === 'system') return [{ role, content: textsOf(content.flatMap(partsOf)) }];
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [toolResult(block)] : []));
  const parts = [...results.flatMap(({ pictures }) => pictures), ...content.flatMap(partsOf)];
  return [...results.map(({ message }) => message), ...(parts.length === 0 ? [] : [{ role, content: shortest(parts) }])];
}

function assistantTurn(content: readonly MessageContentBlock[], { chatName, written, keepsExtra }: Naming): Json {
  const calls = content.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function',
            function: { name: chatName(block.name), arguments: argumentsText(block.input, written) },
            ...(keepsExtra && block['extra_content'] !== undefined && { extra_content: block['extra_content'] }),
          },
        ]
      : [],
  );
  const text = textsOf(content.flatMap(partsOf));
  return { role: 'assistant', content: text === '' && calls.length > 0 ? null : text, ...(calls.length > 0 && { tool_calls: calls }) };
}

type ToolResult = Extract<MessageContentBlock, { type: 'tool_result' }>;

/** A chat's tool says text alone. */
function toolResult({ tool_use_id, content, is_error }: ToolResult): { message: Json; pictures: Part[] } {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []).flatMap(partsOf);
  const pictures = parts.filter(({ type }) => type !== 'text');
  const text = `${is_error ? 'Error: ' : ''}${textsOf(parts)}`;
  return { message: { role: 'tool', tool_call_id: tool_use_id, content: text }, pictures };
}

/** What of a block a chat takes as content. */
function partsOf(block: Json & { readonly type: string }): Part[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block['text'] }];
    case 'image':
      return isRecord(block['source']) ? imageOf(block['source']) : [];
    case 'document':
      return isRecord(block['source']) ? documentOf(block['source'], block['title']) : [];
    case 'search_result':
      return [{ type: 'text', text: [block['title'], block['source'], ...textsIn(block['content'])].join('\n') }];
    case 'tool_reference':
      return [{ type: 'text', text: String(block['tool_name']) }];
    default:
      return [];
  }
}

const addressOf = ({ type, url, media_type: mediaType, data }: Json): string =>
  type === 'url' ? String(url) : `data:${String(mediaType)};base64,${String(data)}`;

const imageOf = (source: Json): Part[] => [{ type: 'image_url', image_url: { url: addressOf(source) } }];

function documentOf(source: Json, title: unknown): Part[] {
  const heading = typeof title === 'string' ? `${title}\n` : '';
  const { content } = source;
  switch (source['type']) {
    case 'text':
      return [{ type: 'text', text: `${heading}${String(source['data'])}` }];
    case 'content':
      if (typeof content === 'string') return [{ type: 'text', text: `${heading}${content}` }];
      return Array.isArray(content) ? content.flatMap(partsOf) : [];
    default:
      return [{ type: 'file', file: { filename: typeof title === 'string' ? title : 'document.pdf', file_data: addressOf(source) } }];
  }
}

const textsIn = (content: unknown): string[] =>
  Array.isArray(content)
    ? content.flatMap((part: unknown) => (isRecord(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    : [];

const textsOf = (parts: readonly Part[]): string => textsIn(parts).join('\n');

/** Of text alone a text: not every provider knows parts. */
const shortest = (parts: readonly Part[]): string | readonly Part[] =>
  parts.every(({ type }) => type === 'text') ? textsOf(parts) : parts;
