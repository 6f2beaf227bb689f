import { type Piece, piecesOf } from '../completion.ts';
import type { Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { inflated } from '../inflated.ts';
import { sample } from '../sample.ts';
import type { Saying } from '../step.ts';
import type { AnthropicUsage } from './saying.ts';

/** A block of the answer, with the pieces it is streamed in. */
export interface Block {
  /** As in a whole answer. */
  readonly whole: Fields;
  /** As in `content_block_start`. */
  readonly opening: Fields;
  readonly deltas: readonly Fields[];
}

export interface Message {
  readonly id: string;
  readonly model: unknown;
  readonly blocks: readonly Block[];
  readonly stopReason: string;
  readonly stopDetails: object | null;
  readonly usage: unknown;
  readonly exact: AnthropicUsage;
}

const SIGNATURE = 'c2lnbmF0dXJl';

export function messageOf({ turn, request, step, promptTokens }: Question): Message {
  const { anthropic: own = {} } = step;
  const all = piecesOf({ ...askedFor(request), ...step });
  const bound = step.exceedsBound ? Infinity : Number(request['max_tokens']);
  const pieces = all.slice(0, bound);
  const called = pieces.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn';
  const exact = inflated(usageOf(pieces, promptTokens), step);
  const hidden = own.redactedThinking === undefined ? [] : [redacted(own.redactedThinking)];
  return {
    id: `msg_fake_${turn}`,
    model: request['model'],
    blocks: [...hidden, ...blocksOf(pieces)],
    stopReason: own.stopReason ?? (pieces.length < all.length ? 'max_tokens' : called),
    stopDetails: own.stopDetails ?? null,
    usage: own.usage ? own.usage(exact) : exact,
    exact,
  };
}

/** What a well-behaved model would do: think where it is asked to, call the tool it must call, fill in the schema it was given. */
function askedFor(request: Fields): Saying {
  const { thinking, tool_choice: choice, tools, output_config: output } = request;
  const reasoning = isFields(thinking) && thinking['type'] !== 'disabled' ? { reasoning: 'Let me think.' } : {};
  const format = isFields(output) ? output['format'] : undefined;
  if (isFields(format)) return { ...reasoning, text: JSON.stringify(sample(format['schema'])) };
  if (!isFields(choice) || (choice['type'] !== 'any' && choice['type'] !== 'tool') || !Array.isArray(tools)) return reasoning;
  const tool = tools.filter(isFields).find(({ name }) => choice['type'] === 'any' || name === choice['name']);
  return tool
    ? { text: '', toolCalls: [{ name: String(tool['name']), arguments: JSON.stringify(sample(tool['input_schema'])) }] }
    : reasoning;
}

function blocksOf(pieces: readonly Piece[]): Block[] {
  const textOf = (kind: 'reasoning' | 'text'): string[] => pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : []));
  const [thoughts, texts] = [textOf('reasoning'), textOf('text')];
  const calls = pieces.flatMap((call) => {
    if (call.kind !== 'call') return [];
    return [
      toolUse(
        call,
        pieces.flatMap((piece) => (piece.kind === 'arguments' && piece.index === call.index ? [piece.text] : [])),
      ),
    ];
  });
  return [...(thoughts.length > 0 ? [thinking(thoughts)] : []), ...(texts.length > 0 ? [text(texts)] : []), ...calls];
}

const text = (tokens: readonly string[]): Block => ({
  whole: { type: 'text', text: tokens.join(''), citations: null },
  opening: { type: 'text', text: '' },
  deltas: tokens.map((token) => ({ type: 'text_delta', text: token })),
});

const thinking = (tokens: readonly string[]): Block => ({
  whole: { type: 'thinking', thinking: tokens.join(''), signature: SIGNATURE },
  opening: { type: 'thinking', thinking: '', signature: '' },
  deltas: [...tokens.map((token) => ({ type: 'thinking_delta', thinking: token })), { type: 'signature_delta', signature: SIGNATURE }],
});

const redacted = (data: string): Block => ({
  whole: { type: 'redacted_thinking', data },
  opening: { type: 'redacted_thinking', data },
  deltas: [],
});

/** Anthropic parses what the model wrote; a stream has it as it was written. */
function toolUse({ index, name }: { readonly index: number; readonly name: string }, parts: readonly string[]): Block {
  const common = { type: 'tool_use', id: `toolu_fake_${index}`, name };
  const written = parts.join('');
  return {
    whole: { ...common, input: parsed(written) },
    opening: { ...common, input: {} },
    deltas: written === '{}' ? [] : ['', ...parts].map((part) => ({ type: 'input_json_delta', partial_json: part })),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

const usageOf = (pieces: readonly Piece[], promptTokens: number): AnthropicUsage => ({
  input_tokens: promptTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: pieces.length,
  output_tokens_details: { thinking_tokens: pieces.filter(({ kind }) => kind === 'reasoning').length },
  service_tier: 'standard',
});

/** The answer as one JSON document. */
export const plainMessage = ({ id, model, blocks, stopReason, stopDetails, usage }: Message): object => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: blocks.map(({ whole }) => whole),
  stop_reason: stopReason,
  stop_sequence: null,
  stop_details: stopDetails,
  usage,
});
