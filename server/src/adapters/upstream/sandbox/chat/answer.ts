import type { ChatCompletionRequest } from '@tallygate/contract';
import type { ChatCall } from '../../port.ts';
import { tooLarge } from '../answer-size.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { sampleSchema } from '../schema/sample.ts';
import { countTokens, cutToTokens, promptTokens } from '../tokens.ts';
import { callTools, type ToolCall } from '../tool-calls.ts';
import { answerInWords, lastUserMessage, REFUSAL, textOf } from './answer-text.ts';
import { checkAttachments } from './attachments.ts';

/** What is said, before it takes the form of a body or of chunks. */
export interface Answer {
  readonly ok: true;
  readonly choices: readonly Choice[];
  readonly promptTokens: number;
  /** Of all choices, reasoning included; at most the call's bound times the number of choices. */
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

export interface Choice {
  /** Null where tools are called instead, or the answer is a refusal. */
  readonly content: string | null;
  /** Said in place of the content. */
  readonly refusal: string | null;
  readonly calls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly tokens: number;
}

/** What of a call the answer depends on. */
type Asked = Pick<ChatCall, 'model' | 'request' | 'maxOutputTokens'>;

const REASONING_TOKENS: Readonly<Record<string, number>> = { none: 0, minimal: 8, low: 16, medium: 32, high: 64, xhigh: 128 };
const REASONING_MODELS = /(?:^|\/)(?:o\d|gpt-[5-9]|deepseek|gemini|grok)/i;

/** Depends on the call and nothing else, so the same call gets the same answer. `refuses`: it is a refusal. */
export function composeAnswer({ model, request, maxOutputTokens }: Asked, refuses = false): Answer | Rejection {
  const count = request.n ?? 1;
  const reasoning = reasoningTokens(model, request, maxOutputTokens);
  const spoken = compose(request, { count, bound: maxOutputTokens - reasoning, refuses });
  if ('ok' in spoken) return spoken;
  return {
    ok: true,
    choices: spoken,
    promptTokens: promptTokens(request),
    completionTokens: spoken.reduce((sum, { tokens }) => sum + tokens, reasoning * count),
    reasoningTokens: reasoning * count,
  };
}

interface Room {
  readonly count: number;
  /** Of one choice, tokens. */
  readonly bound: number;
  readonly refuses: boolean;
}

function compose(request: ChatCompletionRequest, { count, bound, refuses }: Room): Choice[] | Rejection {
  const broken = checkAttachments(request.messages);
  if (broken) return broken;
  const choice = refuses ? () => refusalWithin(bound) : choiceOf(request, { count, bound });
  if ('ok' in choice) return choice;
  const first = choice(0);
  const logprobs = request.logprobs ? 1 + (request.top_logprobs ?? 0) : 0;
  // The choices are about as long as each other.
  const refusal = tooLarge({ choices: count, tokens: first.tokens * count, logprobs });
  return refusal ?? [first, ...Array.from({ length: count - 1 }, (_, index) => choice(index + 1))];
}

function choiceOf(request: ChatCompletionRequest, { count, bound }: Omit<Room, 'refuses'>): ((index: number) => Choice) | Rejection {
  const calls = callTools(request, textOf(lastUserMessage(request.messages)?.content));
  if ('ok' in calls) return calls;
  if (calls.length > 0) return () => callsWithin(calls, bound);
  const json = answerInJson(request);
  if (json && 'ok' in json) return json;
  return (index) => textWithin(json?.text ?? answerInWords(request.messages, { index, count }), request.stop, bound);
}

/** Reasoning models think for a while, but leave at least half of the bound (rounded down) for what they say. */
function reasoningTokens(model: string, { reasoning_effort: effort }: ChatCompletionRequest, bound: number): number {
  if (!effort && !REASONING_MODELS.test(model)) return 0;
  const tokens = Object.hasOwn(REASONING_TOKENS, effort ?? 'medium') ? REASONING_TOKENS[effort ?? 'medium'] : undefined;
  return Math.min(tokens ?? 32, Math.ceil(bound / 2));
}

function answerInJson({ messages, response_format: format }: ChatCompletionRequest): { text: string } | Rejection | undefined {
  if (!format || format.type === 'text') return undefined;
  const schema = format.type === 'json_schema' ? format.json_schema?.schema : undefined;
  if (schema === undefined) return { text: JSON.stringify({ answer: answerInWords(messages, { index: 0, count: 1 }), sandbox: true }) };
  const sample = sampleSchema(schema);
  if (sample.ok) return { text: JSON.stringify(sample.value) };
  const message = `Invalid schema for response_format in the sandbox: ${sample.reason}.`;
  return rejection(message, { param: 'response_format.json_schema.schema', code: 'invalid_json_schema' });
}

function textWithin(text: string, stop: ChatCompletionRequest['stop'], bound: number): Choice {
  const cut = cutToTokens(beforeStop(text, stop), bound);
  return { content: cut.text, refusal: null, calls: [], finishReason: cut.isCut ? 'length' : 'stop', tokens: cut.tokens };
}

function refusalWithin(bound: number): Choice {
  const cut = cutToTokens(REFUSAL, bound);
  return { content: null, refusal: cut.text, calls: [], finishReason: cut.isCut ? 'length' : 'stop', tokens: cut.tokens };
}

/** The text as far as the first of its stop sequences, which is not part of the answer. */
export function beforeStop(text: string, stop: string | readonly string[] | null | undefined): string {
  const sequences = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence !== '');
  const ends = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at >= 0);
  return text.slice(0, Math.min(text.length, ...ends));
}

/** As many calls as fit the bound; the last one's arguments may break off, as a model's do. */
function callsWithin(calls: readonly ToolCall[], bound: number): Choice {
  const fitting: ToolCall[] = [];
  let tokens = 0;
  for (const call of calls) {
    const nameTokens = countTokens(call.name);
    const cut = cutToTokens(call.arguments, bound - tokens - nameTokens);
    if (tokens + nameTokens <= bound) {
      fitting.push({ ...call, arguments: cut.text });
      tokens += nameTokens + cut.tokens;
    }
    if (cut.isCut) return { content: fitting.length > 0 ? null : '', refusal: null, calls: fitting, finishReason: 'length', tokens };
  }
  return { content: null, refusal: null, calls: fitting, finishReason: 'tool_calls', tokens };
}
