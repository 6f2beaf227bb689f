import { type Fields, isFields } from './fields.ts';
import { inflated } from './inflated.ts';
import { sample } from './sample.ts';
import type { ExactUsage, Saying, ScriptedToolCall } from './step.ts';

/** A chat completion request. */
export type ChatRequest = Fields;

export type Piece =
  | { readonly kind: 'reasoning' | 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly name: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

/** Everything the answer says, decided; plain and streamed answers are two ways of writing it down. */
export interface Plan {
  readonly id: string;
  readonly model: string;
  readonly choices: number;
  readonly pieces: readonly Piece[];
  readonly finishReason: string;
  readonly logprobs: boolean;
  readonly usage: unknown;
  readonly exact: ExactUsage;
}

/** The end of 2025, unix seconds: answers do not depend on the day they are made. */
export const CREATED = 1_767_139_200;

const DEFAULT_TOKENS = 8;
const ARGUMENT_CHARACTERS_PER_TOKEN = 8;

const integer = (value: unknown): number | undefined => (typeof value === 'number' && Number.isInteger(value) ? value : undefined);
const words = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [];

export function planAnswer(id: string, request: ChatRequest, saying: Saying, promptTokens: number): Plan {
  const all = piecesOf({ ...askedFor(request), ...saying });
  const bound = saying.exceedsBound ? Infinity : boundOf(request);
  const hidden = Math.min(saying.hiddenReasoning ?? 0, bound);
  const pieces = all.slice(0, bound - hidden);
  const choices = integer(request['n']) ?? 1;
  const exact = inflated(usageOf(pieces, hidden, choices, promptTokens), saying);
  const natural = pieces.some((piece) => piece.kind === 'call') ? 'tool_calls' : 'stop';
  return {
    id,
    model: typeof request['model'] === 'string' ? request['model'] : 'fake-model',
    choices,
    pieces,
    finishReason: saying.finishReason ?? (pieces.length < all.length ? 'length' : natural),
    logprobs: request['logprobs'] === true,
    usage: saying.usage ? saying.usage(exact) : exact,
    exact,
  };
}

/** What a well-behaved model would do with the request: call the tool it must call, or fill in the schema it was given. */
function askedFor(request: ChatRequest): Saying {
  const tool = demandedTool(request);
  if (tool) return { text: '', toolCalls: [tool] };
  const format = request['response_format'];
  if (!isFields(format)) return {};
  if (format['type'] === 'json_object') return { text: '{"ok": true}' };
  const { json_schema: named } = format;
  return isFields(named) ? { text: JSON.stringify(sample(named['schema'])) } : {};
}

function demandedTool(request: ChatRequest): ScriptedToolCall | undefined {
  const { tools, tool_choice: choice } = request;
  if (!Array.isArray(tools) || !(choice === 'required' || isFields(choice))) return undefined;
  const wanted = isFields(choice) && isFields(choice['function']) ? choice['function']['name'] : undefined;
  for (const { function: tool } of tools.filter(isFields)) {
    if (!isFields(tool) || typeof tool['name'] !== 'string' || (wanted !== undefined && tool['name'] !== wanted)) continue;
    return { name: tool['name'], arguments: JSON.stringify(sample(tool['parameters']) ?? {}) };
  }
  return undefined;
}

/** What a saying comes to, token by token. */
export function piecesOf(saying: Saying): Piece[] {
  const pieces: Piece[] = words(saying.reasoning ?? '').map((text) => ({ kind: 'reasoning', text }));
  const text =
    saying.text === undefined
      ? Array.from({ length: saying.tokens ?? DEFAULT_TOKENS }, (_, i) => `${i === 0 ? '' : ' '}tok${i}`)
      : words(saying.text);
  for (const token of text) pieces.push({ kind: 'text', text: token });
  for (const [index, call] of (saying.toolCalls ?? []).entries()) {
    pieces.push({ kind: 'call', index, name: call.name });
    for (let at = 0; at < call.arguments.length; at += ARGUMENT_CHARACTERS_PER_TOKEN) {
      pieces.push({ kind: 'arguments', index, text: call.arguments.slice(at, at + ARGUMENT_CHARACTERS_PER_TOKEN) });
    }
  }
  return pieces;
}

const boundOf = (request: ChatRequest): number =>
  Math.min(integer(request['max_tokens']) ?? Infinity, integer(request['max_completion_tokens']) ?? Infinity);

function usageOf(pieces: readonly Piece[], hidden: number, choices: number, promptTokens: number): ExactUsage {
  const reasoning = pieces.filter((piece) => piece.kind === 'reasoning').length + hidden;
  const completion = (pieces.length + hidden) * choices;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completion,
    total_tokens: promptTokens + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning * choices },
  };
}

/** The id of a tool call: the same in plain and streamed answers. */
export const callId = (choice: number, index: number): string => `call_${choice}_${index}`;

/** OpenAI's `logprobs` for a stretch of text tokens. */
export const logprobsOf = (tokens: readonly string[]) => ({
  content: tokens.map((token) => ({ token, logprob: -0.125, bytes: [...Buffer.from(token)], top_logprobs: [] })),
  refusal: null,
});

/** The answer as one JSON document, OpenAI's `chat.completion`. */
export function plainBody(plan: Plan): object {
  const textTokens = plan.pieces.flatMap((piece) => (piece.kind === 'text' ? [piece.text] : []));
  const reasoning = plan.pieces.map((piece) => (piece.kind === 'reasoning' ? piece.text : '')).join('');
  const toolCalls = (choice: number) =>
    plan.pieces.flatMap((call) => {
      if (call.kind !== 'call') return [];
      const text = plan.pieces.map((piece) => (piece.kind === 'arguments' && piece.index === call.index ? piece.text : '')).join('');
      return [{ id: callId(choice, call.index), type: 'function', function: { name: call.name, arguments: text } }];
    });
  const choices = Array.from({ length: plan.choices }, (_, index) => {
    const calls = toolCalls(index);
    return {
      index,
      message: {
        role: 'assistant',
        content: calls.length > 0 && textTokens.length === 0 ? null : textTokens.join(''),
        refusal: null,
        ...(reasoning && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: plan.logprobs ? logprobsOf(textTokens) : null,
      finish_reason: plan.finishReason,
    };
  });
  return { id: plan.id, object: 'chat.completion', created: CREATED, model: plan.model, choices, usage: plan.usage };
}
