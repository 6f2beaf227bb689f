import { type Fields, isFields } from '../fields.ts';

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

interface Turn {
  readonly role: unknown;
  readonly blocks: readonly Fields[];
}

/** What is wrong with the conversation. Stricter than today's API in one thing: turns of one side in a row, which that joins, are refused. */
export function whatIsWrongWithTurns({ messages, tools }: Fields): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return 'messages: at least one message is required';
  const turns = messages.filter(isFields).map(turnOf);
  for (const [at, turn] of turns.entries()) {
    const wrong = wrongTurn(at, turn, turns) ?? wrongPairs(at, turn, turns);
    if (wrong !== undefined) return wrong;
  }
  const hasCalls = turns.some(({ blocks }) => blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result'));
  if (hasCalls && !Array.isArray(tools)) return 'Requests which include `tool_use` or `tool_result` blocks must define tools';
  const last = turns.at(-1);
  const text = last?.role === 'assistant' ? last.blocks.at(-1)?.['text'] : undefined;
  return typeof text === 'string' && text !== text.trimEnd()
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined;
}

function turnOf({ role, content }: Fields): Turn {
  if (typeof content === 'string') return { role, blocks: [{ type: 'text', text: content }] };
  return { role, blocks: Array.isArray(content) ? content.filter(isFields) : [] };
}

function wrongTurn(at: number, { role, blocks }: Turn, turns: readonly Turn[]): string | undefined {
  if (role !== 'user' && role !== 'assistant') return `messages: Unexpected role "${String(role)}".`;
  if (at === 0 && role !== 'user') return 'messages: first message must use the "user" role';
  if (at > 0 && turns[at - 1]?.role === role)
    return `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`;
  if (blocks.length === 0) return `messages.${at}: all messages must have non-empty content`;
  for (const [place, block] of blocks.entries()) {
    const wrong = wrongBlock(block);
    if (wrong !== undefined) return `messages.${at}.content.${place}.${wrong}`;
  }
  return undefined;
}

function wrongBlock({ type, text, source, id, input, signature, tool_use_id: toolUseId }: Fields): string | undefined {
  switch (type) {
    case 'text':
      return typeof text === 'string' && text.trim() !== '' ? undefined : 'text: text content blocks must contain non-whitespace text';
    case 'image':
    case 'document':
      return isFields(source) ? wrongSource(String(type), source) : `${type}.source: Field required`;
    case 'thinking':
      return typeof signature === 'string' && signature !== '' ? undefined : 'thinking.signature: Field required';
    case 'redacted_thinking':
      return undefined;
    case 'tool_use':
      if (!isFields(input)) return 'tool_use.input: Input should be a valid dictionary';
      return isId(id) ? undefined : 'tool_use.id: String should match pattern';
    case 'tool_result':
      return isId(toolUseId) ? undefined : 'tool_result.tool_use_id: String should match pattern';
    default:
      return `type: Input tag '${String(type)}' found does not match any of the expected tags`;
  }
}

const isId = (id: unknown): boolean => typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id);

function wrongSource(block: string, { type, media_type: mediaType, data, url }: Fields): string | undefined {
  if (type === 'url')
    return typeof url === 'string' && url.startsWith('https://') ? undefined : `${block}.source.url: Only HTTPS URLs are supported.`;
  if (type === 'text' && block === 'document') return typeof data === 'string' ? undefined : 'document.source.data: Field required';
  if (type !== 'base64') return `${block}.source: Input tag does not match any of the expected tags`;
  const isKnown = block === 'image' ? IMAGES.has(String(mediaType)) : mediaType === 'application/pdf';
  if (!isKnown) return `${block}.source.base64.media_type: Input should be one of the supported types`;
  return typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data) ? undefined : `${block}.source.base64.data: Invalid base64 data`;
}

/** Every call is answered in the next turn, before any other content. */
function wrongPairs(at: number, { role, blocks }: Turn, turns: readonly Turn[]): string | undefined {
  const idsIn = (turn: Turn | undefined, type: string, field: string): unknown[] =>
    (turn?.blocks ?? []).flatMap((block) => (block['type'] === type ? [block[field]] : []));
  if (role === 'assistant') {
    const answered = new Set(idsIn(turns[at + 1], 'tool_result', 'tool_use_id'));
    const open = idsIn(turns[at], 'tool_use', 'id').filter((id) => !answered.has(id));
    return open.length === 0
      ? undefined
      : `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}.`;
  }
  const called = new Set(idsIn(turns[at - 1], 'tool_use', 'id'));
  const stray = idsIn(turns[at], 'tool_result', 'tool_use_id').find((id) => !called.has(id));
  if (stray !== undefined) return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray)}.`;
  const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
  const isLate = firstOther >= 0 && blocks.slice(firstOther).some(({ type }) => type === 'tool_result');
  return isLate ? `messages.${at}: \`tool_result\` blocks must come first` : undefined;
}
