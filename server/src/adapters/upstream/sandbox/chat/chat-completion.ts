import type { ChatCompletionRequest } from '@tallygate/contract';
import type { Piece, StreamEvent } from '../composition.ts';
import { logprobsOf } from '../logprobs.ts';
import { piecesOf, wordsOf } from '../tokens.ts';
import type { ToolCall } from '../tool-calls.ts';
import type { Answer, Choice } from './answer.ts';

/** What is the same in a body and in each of its chunks. */
export interface Head {
  /** `chatcmpl-…` */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly service_tier: string;
  readonly system_fingerprint: string;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: Readonly<Record<string, number>>;
  readonly completion_tokens_details: Readonly<Record<string, number>>;
}

export function usageOf({ promptTokens, completionTokens, reasoningTokens }: Answer): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The answer as one JSON body, a piece for each choice; without `usage` where there is none. */
export function completionBody(head: Head, answer: Answer, request: ChatCompletionRequest, usage: Usage | undefined): Piece[] {
  const start = `${JSON.stringify({ ...head, object: 'chat.completion' }).slice(0, -1)},"choices":[`;
  const end = `]${usage ? `,"usage":${JSON.stringify(usage)}` : ''}}`;
  const last = answer.choices.length - 1;
  return answer.choices.map((choice, index) => () => {
    const written = JSON.stringify({
      index,
      message: {
        role: 'assistant',
        content: choice.content,
        refusal: choice.refusal,
        annotations: [],
        ...(choice.calls.length > 0 && { tool_calls: choice.calls.map((call, position) => toolCall(head, { index, position }, call)) }),
      },
      logprobs: logprobsFor(request, choice.content),
      finish_reason: choice.finishReason,
    });
    return `${index === 0 ? start : ','}${written}${index === last ? end : ''}`;
  });
}

/** What stands around the choices of every event. */
function eventFrame(head: Head, request: ChatCompletionRequest): { start: string; end: string } {
  return {
    start: `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk' }).slice(0, -1)},"choices":`,
    end: request.stream_options?.include_usage ? ',"usage":null}\n\n' : '}\n\n',
  };
}

/** Of a choice in an event, besides the text: its names, and those of its log probabilities. */
const DELTA_BYTES = 150;

/** What an event takes besides its text. */
export function eventBytes(head: Head, request: ChatCompletionRequest): number {
  const { start, end } = eventFrame(head, request);
  return Buffer.byteLength(start) + end.length + DELTA_BYTES;
}

/**
 * The answer as OpenAI's events: each choice's role, then words and pieces of arguments by turns between the choices, each
 * choice's end, the usage, `[DONE]`. The usage comes whether or not it was asked for.
 */
export function completionEvents(head: Head, answer: Answer, request: ChatCompletionRequest, usage: Usage | undefined): StreamEvent[] {
  // A stream is mostly its head, over and over: it is written once.
  const { start, end } = eventFrame(head, request);
  const event = (part: StreamEvent['part'], choice: () => object): StreamEvent => ({
    part,
    text: () => `${start}[${JSON.stringify(choice())}]${end}`,
  });
  const deltas = answer.choices.map((choice, index) => deltasOf(head, request, choice, index));
  const turns = Math.max(...deltas.map(({ length }) => length));
  const inTurn = Array.from({ length: turns }, (_, turn) => deltas.flatMap((ofChoice, index) => choiceDelta(index, ofChoice[turn])));
  return [
    ...answer.choices.map(({ content }, index) => {
      const delta = { role: 'assistant', content: content === null ? null : '', refusal: null };
      return event('opening', () => ({ index, delta, logprobs: null, finish_reason: null }));
    }),
    ...inTurn.flat().map((choice) => event('content', choice)),
    ...answer.choices.map(({ finishReason }, index) =>
      event('closing', () => ({ index, delta: {}, logprobs: null, finish_reason: finishReason })),
    ),
    ...(usage ? [{ part: 'closing', text: `${start}[],"usage":${JSON.stringify(usage)}}\n\n` } as const] : []),
    { part: 'closing', text: 'data: [DONE]\n\n' },
  ];
}

/** Made when it is its turn. */
type Delta = () => { readonly delta: object; readonly logprobs: object | null };

const choiceDelta = (index: number, delta: Delta | undefined): (() => object)[] =>
  delta ? [() => ({ index, ...delta(), finish_reason: null })] : [];

/** Words of the text or the refusal, or of each call its head and then its arguments in pieces. */
function deltasOf(head: Head, request: ChatCompletionRequest, { content, refusal, calls }: Choice, choice: number): Delta[] {
  const words = wordsOf(content ?? '').map((word) => () => ({ delta: { content: word }, logprobs: logprobsFor(request, word) }));
  const refused = wordsOf(refusal ?? '').map((word) => () => ({ delta: { refusal: word }, logprobs: null }));
  const pieces = calls.flatMap((call, index) => {
    const { id, type } = toolCall(head, { index: choice, position: index }, call);
    const first = { index, id, type, ...wrapped(call, { name: call.name }, '') };
    return [first, ...piecesOf(call.arguments).map((piece) => ({ index, ...wrapped(call, {}, piece) }))];
  });
  return [...words, ...refused, ...pieces.map((piece) => () => ({ delta: { tool_calls: [piece] }, logprobs: null }))];
}

/** OpenAI has other names for what a custom tool is called with. */
const wrapped = ({ kind }: ToolCall, name: object, said: string) =>
  kind === 'custom' ? { custom: { ...name, input: said } } : { function: { ...name, arguments: said } };

const logprobsFor = ({ logprobs, top_logprobs }: ChatCompletionRequest, text: string | null): object | null =>
  logprobs && text !== null ? logprobsOf(text, top_logprobs ?? 0) : null;

/** The id tells the choice and the call apart, and is the same for the same request. */
const toolCall = (head: Head, at: { index: number; position: number }, call: ToolCall) => ({
  id: `call_${head.id.slice(-20)}${String(at.index).padStart(3, '0')}${String(at.position).padStart(2, '0')}`,
  type: call.kind,
  ...wrapped(call, { name: call.name }, call.arguments),
});
