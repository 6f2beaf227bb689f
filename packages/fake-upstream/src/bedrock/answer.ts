import { type Piece, piecesOf } from '../completion.ts';
import type { Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { inflated } from '../inflated.ts';
import { sample } from '../sample.ts';
import type { Saying, ScriptedToolCall } from '../step.ts';
import type { BedrockUsage } from './saying.ts';

/** A block of the answer, with the pieces that it is streamed in. */
export interface Block {
  readonly whole: Fields;
  /** As in `contentBlockStart`; a text has none. */
  readonly start?: Fields;
  readonly deltas: readonly Fields[];
}

export interface ConverseAnswer {
  readonly blocks: readonly Block[];
  readonly stopReason: string;
  readonly usage: unknown;
  readonly exact: BedrockUsage;
}

const SIGNATURE = 'c2lnbmF0dXJl';

export function converseAnswer({ request, step, promptTokens }: Question): ConverseAnswer {
  const { bedrock: own = {} } = step;
  const config = isFields(request['inferenceConfig']) ? request['inferenceConfig'] : {};
  const all = piecesOf({ ...(step.text === undefined && askedFor(request)), ...step });
  const pieces = all.slice(0, step.exceedsBound ? Infinity : Number(config['maxTokens'] ?? Infinity));
  const called = pieces.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn';
  const exact = inflated(usageOf(pieces, promptTokens), step);
  const hidden = own.redactedContent === undefined ? [] : [redacted(own.redactedContent)];
  return {
    blocks: [...hidden, ...blocksOf(pieces)],
    stopReason: own.stopReason ?? (pieces.length < all.length ? 'max_tokens' : called),
    usage: own.usage ? own.usage(exact) : exact,
    exact,
  };
}

export const toolsIn = ({ toolConfig }: Fields): Fields[] => {
  const tools = isFields(toolConfig) && Array.isArray(toolConfig['tools']) ? toolConfig['tools'].filter(isFields) : [];
  return tools.flatMap(({ toolSpec }) => (isFields(toolSpec) ? [toolSpec] : []));
};

/** What a well-behaved model would do that is not told what to say: think where it is asked to, and call the tool that it must call. */
function askedFor(request: Fields): Saying {
  const { additionalModelRequestFields: own, toolConfig } = request;
  const thinks = isFields(own) && (isFields(own['thinking']) || isFields(own['reasoningConfig']));
  const tool = demandedTool(request, isFields(toolConfig) ? toolConfig['toolChoice'] : undefined);
  return { ...(thinks && { reasoning: 'Let me think.' }), ...(tool && { text: '', toolCalls: [tool] }) };
}

function demandedTool(request: Fields, choice: unknown): ScriptedToolCall | undefined {
  if (!isFields(choice) || !(isFields(choice['any']) || isFields(choice['tool']))) return undefined;
  const wanted = isFields(choice['tool']) ? choice['tool']['name'] : undefined;
  const tool = toolsIn(request).find(({ name }) => wanted === undefined || name === wanted);
  const schema = isFields(tool?.['inputSchema']) ? tool['inputSchema']['json'] : undefined;
  return tool && { name: String(tool['name']), arguments: JSON.stringify(sample(schema) ?? {}) };
}

function blocksOf(pieces: readonly Piece[]): Block[] {
  const textOf = (kind: 'reasoning' | 'text'): string[] => pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : []));
  const [thoughts, texts] = [textOf('reasoning'), textOf('text')];
  const calls = pieces.flatMap((call) => (call.kind === 'call' ? [toolUse(call, argumentsOf(pieces, call.index))] : []));
  return [...(thoughts.length > 0 ? [thinking(thoughts)] : []), ...(texts.length > 0 ? [text(texts)] : []), ...calls];
}

const argumentsOf = (pieces: readonly Piece[], call: number): string[] =>
  pieces.flatMap((piece) => (piece.kind === 'arguments' && piece.index === call ? [piece.text] : []));

const text = (tokens: readonly string[]): Block => ({
  whole: { text: tokens.join('') },
  deltas: tokens.map((token) => ({ text: token })),
});

const thinking = (tokens: readonly string[]): Block => ({
  whole: { reasoningContent: { reasoningText: { text: tokens.join(''), signature: SIGNATURE } } },
  deltas: [...tokens.map((token) => ({ reasoningContent: { text: token } })), { reasoningContent: { signature: SIGNATURE } }],
});

const redacted = (redactedContent: string): Block => ({
  whole: { reasoningContent: { redactedContent } },
  deltas: [{ reasoningContent: { redactedContent } }],
});

function toolUse({ index, name }: { readonly index: number; readonly name: string }, parts: readonly string[]): Block {
  const start = { toolUseId: `tooluse_fake_${index}`, name };
  return {
    whole: { toolUse: { ...start, input: parsed(parts.join('')) } },
    start: { toolUse: start },
    deltas: parts.map((input) => ({ toolUse: { input } })),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

const usageOf = (pieces: readonly Piece[], promptTokens: number): BedrockUsage => ({
  inputTokens: promptTokens,
  outputTokens: pieces.length,
  totalTokens: promptTokens + pieces.length,
  cacheReadInputTokens: 0,
  cacheWriteInputTokens: 0,
});

/** The answer as one JSON document. */
export const plainAnswer = ({ blocks, stopReason, usage }: ConverseAnswer): Fields => ({
  output: { message: { role: 'assistant', content: blocks.map(({ whole }) => whole) } },
  stopReason,
  metrics: { latencyMs: 12 },
  usage,
});
