import type { ChatCompletionRequest } from '@tallygate/contract';
import type { StreamEvent } from '../composition.ts';
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
  readonly service_tier: 'default';
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

/** The answer as one JSON body; without `usage` where there is none. */
export function completionBody(head: Head, answer: Answer, request: ChatCompletionRequest, usage: Usage | undefined): string {
  const choices = answer.choices.map((choice, index) => ({
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
  }));
  return JSON.stringify({ ...head, object: 'chat.completion', choices, usage });
}

/**
 * The answer as OpenAI's events: each choice's role, then words and pieces of arguments by turns between the choices, each
 * choice's end, the usage, `[DONE]`. The usage comes whether or not it was asked for.
 */
export function completionEvents(head: Head, answer: Answer, request: ChatCompletionRequest, usage: Usage | undefined): StreamEvent[] {
  // A stream is mostly its head, over and over: it is written once.
  const start = `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk' }).slice(0, -1)},"choices":`;
  const end = request.stream_options?.include_usage ? ',"usage":null}\n\n' : '}\n\n';
  const event = (part: StreamEvent['part'], choices: readonly object[]): StreamEvent => ({
    part,
    text: `${start}${JSON.stringify(choices)}${end}`,
  });
  const deltas = answer.choices.map((choice, index) => deltasOf(head, request, choice, index));
  const turns = Math.max(...deltas.map(({ length }) => length));
  const inTurn = Array.from({ length: turns }, (_, turn) => deltas.flatMap((ofChoice, index) => choiceDelta(index, ofChoice[turn])));
  return [
    ...answer.choices.map(({ content }, index) => {
      const delta = { role: 'assistant', content: content === null ? null : '', refusal: null };
      return event('opening', [{ index, delta, logprobs: null, finish_reason: null }]);
    }),
    ...inTurn.flat().map((choice) => event('content', [choice])),
    ...answer.choices.map(({ finishReason }, index) =>
      event('closing', [{ index, delta: {}, logprobs: null, finish_reason: finishReason }]),
    ),
    ...(usage ? [{ part: 'closing', text: `${start}[],"usage":${JSON.stringify(usage)}}\n\n` } as const] : []),
    { part: 'closing', text: 'data: [DONE]\n\n' },
  ];
}

interface Delta {
  readonly delta: object;
  readonly logprobs: object | null;
}

const choiceDelta = (index: number, delta: Delta | undefined): object[] => (delta ? [{ index, ...delta, finish_reason: null }] : []);

/** Words of the text or the refusal, or of each call its head and then its arguments in pieces. */
function deltasOf(head: Head, request: ChatCompletionRequest, { content, refusal, calls }: Choice, choice: number): Delta[] {
  const words = wordsOf(content ?? '').map((word) => ({ delta: { content: word }, logprobs: logprobsFor(request, word) }));
  const refused = wordsOf(refusal ?? '').map((word) => ({ delta: { refusal: word }, logprobs: null }));
  const pieces = calls.flatMap((call, index) => {
    const { id, type } = toolCall(head, { index: choice, position: index }, call);
    const first = { index, id, type, ...wrapped(call, { name: call.name }, '') };
    return [first, ...piecesOf(call.arguments).map((piece) => ({ index, ...wrapped(call, {}, piece) }))];
  });
  return [...words, ...refused, ...pieces.map((piece) => ({ delta: { tool_calls: [piece] }, logprobs: null }))];
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
