import type { ChatCompletionRequest } from '@tallygate/contract';
import { argumentsOf, NONE_READ, type ReadArguments } from '../../../kernel/tool-arguments.ts';
import { Untranslatable } from '../fault.ts';
import { isRecord, type Json } from '../json-value.ts';
import { cacheControlIn, contentBlocks, textsOnly } from './content.ts';
import type { Block, TextBlock, ToolResultBlock, ToolUseBlock, Turn } from './messages-api.ts';
import { thinkingBlocks } from './reasoning-details.ts';

type ChatMessage = ChatCompletionRequest['messages'][number];

export interface Conversation {
  /** Everything that systems and developers said, wherever it stood: the models that serve here have one place for it. */
  readonly system: readonly TextBlock[];
  /** User and assistant in turn; the user begins. */
  readonly turns: readonly Turn[];
}

/** Stands before an assistant that speaks first, which OpenAI allows and Anthropic refuses. */
const OPENING: Turn = { role: 'user', content: [{ type: 'text', text: '(The conversation begins.)' }] };

/** What the conversation has given to tools. */
export function* argumentsIn(messages: readonly ChatMessage[]): Generator<string> {
  for (const { tool_calls: calls } of messages) for (const { function: called } of calls ?? []) if (called) yield called.arguments;
}

/** Messages in a row of one side become one turn, so that the results of parallel tool calls stand together, as Anthropic demands. @param read arguments of tools that are large */
export function conversationOf(messages: readonly ChatMessage[], read = NONE_READ): Conversation {
  const system: TextBlock[] = [];
  const turns: { role: Turn['role']; content: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...marked(textsOnly(message.content), message));
      continue;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, read);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  const last = turns.at(-1);
  if (last?.role === 'assistant') last.content = withoutTrailingSpace(last.content);
  // A system prompt alone is a question to OpenAI's models.
  if (turns.length === 0) return { system: [], turns: system.length === 0 ? [] : [{ role: 'user', content: system }] };
  return { system, turns: turns[0]?.role === 'assistant' ? [OPENING, ...turns] : turns };
}

function blocksOf(message: ChatMessage, read: ReadArguments): Block[] {
  switch (message.role) {
    case 'assistant':
      return marked(
        [...thinkingBlocks(message['reasoning_details']), ...contentBlocks(message.content), ...toolUses(message, read)],
        message,
      );
    case 'tool':
      return [toolResult(message)];
    case 'function':
      throw new Untranslatable('messages', 'Messages of role `function` are not understood here: use `tool_calls` and role `tool`.');
    default:
      return marked(contentBlocks(message.content), message);
  }
}

/** A mark for the cache on a whole message is one on its last block. */
function marked<B extends Block>(blocks: B[], message: Json): B[] {
  const mark = cacheControlIn(message);
  return blocks.map((block, at) => (mark.cache_control && at === blocks.length - 1 && !isThought(block) ? { ...block, ...mark } : block));
}

const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking';

function toolUses({ tool_calls: calls }: ChatMessage, read: ReadArguments): ToolUseBlock[] {
  return (calls ?? []).map(({ id, function: called }) => {
    if (!called) throw new Untranslatable('messages', 'Only calls of functions can be told to this model.');
    return { type: 'tool_use', id: toolUseId(id), name: called.name, input: inputOf(called.arguments, read) };
  });
}

/** Anthropic takes an object only. What a model wrote that is none is shown to it as what it is; nothing, which some write as `null`, is nothing. */
function inputOf(text: string, read: ReadArguments): Json {
  const value = argumentsOf(text, read);
  if (isRecord(value)) return value;
  return value === null || text.trim() === '' ? {} : { arguments: value ?? text };
}

function toolResult(message: ChatMessage): ToolResultBlock {
  const { content, tool_call_id: id } = message;
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(id ?? ''),
    content: typeof content === 'string' ? content : contentBlocks(content),
    ...cacheControlIn(message),
  };
}

/** Anthropic's ids have letters, digits, `_` and `-`; other models, whose calls a conversation may hold, make them of more. */
const toolUseId = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, (other) => `_${other.charCodeAt(0).toString(16)}`);

/** The last turn is continued where it ends, and must not end in white space. */
function withoutTrailingSpace(blocks: Block[]): Block[] {
  const last = blocks.at(-1);
  return last?.type === 'text' ? [...blocks.slice(0, -1), { ...last, text: last.text.trimEnd() }] : blocks;
}
