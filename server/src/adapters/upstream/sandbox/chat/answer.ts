import type { ChatCompletionRequest } from '@tallygate/contract';
import { breather, inTurns } from '../../../../kernel/turn.ts';
import type { ChatCall } from '../../port.ts';
import type { AnswerSize, ChoiceSize } from '../answer-size.ts';
import { type Rejection, rejection } from '../rejection.ts';
import { sampling } from '../schema/sample.ts';
import { countTokens, cutToTokens, mostPieces, promptTokens, wordsOf } from '../tokens.ts';
import { callTools, type ToolCall } from '../tool-calls.ts';
import { answersInWords, lastUserMessage, REFUSAL, textOf } from './answer-text.ts';
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
  readonly size: ChoiceSize;
}

/** What of a call the answer depends on. */
interface Asked extends Pick<ChatCall, 'model' | 'request' | 'maxOutputTokens'> {
  /** To which the choices are added. */
  readonly size: AnswerSize;
}

const REASONING_TOKENS: Readonly<Record<string, number>> = { none: 0, minimal: 8, low: 16, medium: 32, high: 64, xhigh: 128 };
const REASONING_MODELS = /(?:^|\/)(?:o\d|gpt-[5-9]|deepseek|gemini|grok)/i;

/** Depends on the call and nothing else, so the same call gets the same answer. `refuses`: it is a refusal. */
export async function composeAnswer({ model, request, maxOutputTokens, size }: Asked, refuses = false): Promise<Answer | Rejection> {
  const count = request.n ?? 1;
  const reasoning = reasoningTokens(model, request, maxOutputTokens);
  const spoken = await compose(request, { count, bound: maxOutputTokens - reasoning, refuses, size });
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
  readonly size: AnswerSize;
}

async function compose(request: ChatCompletionRequest, { count, bound, refuses, size }: Room): Promise<Choice[] | Rejection> {
  const broken = checkAttachments(request.messages);
  if (broken) return broken;
  const choice = refuses ? always(refusalWithin(bound)) : await choiceOf(request, { count, bound });
  if ('ok' in choice) return choice;
  const rest = breather();
  const choices: Choice[] = [];
  for (let index = 0; index < count; index += 1) {
    await rest();
    const made = choice(index);
    const refusal = size.addChoice(made.size);
    if (refusal) return refusal;
    choices.push(made);
  }
  return choices;
}

type ChoiceAt = (index: number) => Choice;

const always =
  (choice: Choice): ChoiceAt =>
  () =>
    choice;

async function choiceOf(request: ChatCompletionRequest, { count, bound }: Pick<Room, 'count' | 'bound'>): Promise<ChoiceAt | Rejection> {
  const calls = await callTools(request, textOf(lastUserMessage(request.messages)?.content));
  if ('ok' in calls) return calls;
  if (calls.length > 0) return always(callsWithin(calls, bound));
  const json = await answerInJson(request);
  if (json && 'ok' in json) return json;
  if (json) return always(textWithin(json.text, request.stop, bound));
  const words = answersInWords(request.messages, count);
  return (index) => textWithin(words(index), request.stop, bound);
}

/** Reasoning models think for a while, but leave at least half of the bound (rounded down) for what they say. */
function reasoningTokens(model: string, { reasoning_effort: effort }: ChatCompletionRequest, bound: number): number {
  if (!effort && !REASONING_MODELS.test(model)) return 0;
  const tokens = Object.hasOwn(REASONING_TOKENS, effort ?? 'medium') ? REASONING_TOKENS[effort ?? 'medium'] : undefined;
  return Math.min(tokens ?? 32, Math.ceil(bound / 2));
}

async function answerInJson({
  messages,
  response_format: format,
}: ChatCompletionRequest): Promise<{ text: string } | Rejection | undefined> {
  if (!format || format.type === 'text') return undefined;
  const schema = format.type === 'json_schema' ? format.json_schema?.schema : undefined;
  if (schema === undefined) return { text: JSON.stringify({ answer: answersInWords(messages, 1)(0), sandbox: true }) };
  const sample = await inTurns(sampling(schema));
  if (sample.ok) return { text: JSON.stringify(sample.value) };
  const message = `Invalid schema for response_format in the sandbox: ${sample.reason}.`;
  return rejection(message, { param: 'response_format.json_schema.schema', code: 'invalid_json_schema' });
}

function textWithin(text: string, stop: ChatCompletionRequest['stop'], bound: number): Choice {
  const cut = cutToTokens(beforeStop(text, stop), bound);
  return sized({ content: cut.text, refusal: null, calls: [], finishReason: cut.isCut ? 'length' : 'stop', tokens: cut.tokens });
}

function refusalWithin(bound: number): Choice {
  const cut = cutToTokens(REFUSAL, bound);
  return sized({ content: null, refusal: cut.text, calls: [], finishReason: cut.isCut ? 'length' : 'stop', tokens: cut.tokens });
}

/** Of a call besides its name and arguments: ids, a type, and the events that begin and end it. */
const CALL_BYTES = 300;
/** Events of a choice besides those of its text: its beginning and its end. */
const FRAME_EVENTS = 2;

function sized(choice: Omit<Choice, 'size'>): Choice {
  const { content, refusal, calls, tokens } = choice;
  const words = wordsOf(content ?? '').length + wordsOf(refusal ?? '').length;
  const pieces = calls.reduce((sum, call) => sum + 1 + mostPieces(call.arguments), 0);
  const bytes = Buffer.byteLength(JSON.stringify([content, refusal, calls])) + calls.length * CALL_BYTES;
  return { ...choice, size: { bytes, tokens: content === null ? 0 : tokens, events: FRAME_EVENTS + words + pieces } };
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
    if (cut.isCut) return sized({ content: fitting.length > 0 ? null : '', refusal: null, calls: fitting, finishReason: 'length', tokens });
  }
  return sized({ content: null, refusal: null, calls: fitting, finishReason: 'tool_calls', tokens });
}
