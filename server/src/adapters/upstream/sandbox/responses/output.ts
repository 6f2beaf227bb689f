import type { ResponseRequest } from '@tallygate/contract';
import type { Answer, Choice } from '../chat/answer.ts';
import { logprobsOf } from '../logprobs.ts';
import type { ToolCall } from '../tool-calls.ts';
import type { HostedItem } from './hosted-calls.ts';

/** An item of a response's `output`, with every member that OpenAI requires. */
export type OutputItem = ReasoningItem | HostedItem | MessageItem | CallItem;

export interface ReasoningItem {
  readonly id: string;
  readonly type: 'reasoning';
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
  /** Present where the request includes `reasoning.encrypted_content`. */
  readonly encrypted_content?: string;
}

export interface MessageItem {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly status: 'completed' | 'incomplete';
  readonly content: readonly [OutputText | Refusal];
}

export interface OutputText {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly [];
  readonly logprobs: readonly object[];
}

export interface Refusal {
  readonly type: 'refusal';
  readonly refusal: string;
}

export type CallItem = {
  readonly id: string;
  readonly status: 'completed' | 'incomplete';
  readonly call_id: string;
  readonly name: string;
} & ({ readonly type: 'function_call'; readonly arguments: string } | { readonly type: 'custom_tool_call'; readonly input: string });

const THOUGHTS = 'The sandbox thinks of nothing, but takes its time: it looks at the request and decides what to say.';

/** An id of a kind, of this answer alone. */
export const idIn =
  (idSeed: string) =>
  (kind: string, index: number): string =>
    `${kind}_${idSeed.slice(0, 40)}${String(index).padStart(2, '0')}`;

/** What the answer says as OpenAI's items: reasoning first, what the provider ran, then a message or calls. */
export function outputOf(answer: Answer, request: ResponseRequest, hosted: readonly HostedItem[], idSeed: string): OutputItem[] {
  const id = idIn(idSeed);
  const [choice] = answer.choices;
  const thought = answer.reasoningTokens > 0 ? [reasoning(id('rs', 0), request)] : [];
  return [...thought, ...hosted, ...(choice ? spoken(choice, request, id) : [])];
}

function reasoning(id: string, { reasoning: asked, include }: ResponseRequest): ReasoningItem {
  const isEncrypted = include?.includes('reasoning.encrypted_content');
  return {
    id,
    type: 'reasoning',
    summary: asked?.summary ? [{ type: 'summary_text', text: THOUGHTS }] : [],
    ...(isEncrypted && { encrypted_content: Buffer.from(`${id} ${THOUGHTS}`).toString('base64') }),
  };
}

function spoken(choice: Choice, request: ResponseRequest, id: (kind: string, index: number) => string): OutputItem[] {
  const isCut = choice.finishReason === 'length';
  // A bound that the reasoning has used up leaves nothing to say.
  if (isCut && choice.tokens === 0) return [];
  if (choice.calls.length > 0) {
    const last = choice.calls.length - 1;
    return choice.calls.map((call, index) =>
      callItem(call, id('call', index), id(call.kind === 'custom' ? 'ctc' : 'fc', index), isCut && index === last),
    );
  }
  const content =
    choice.refusal === null ? outputText(choice.content ?? '', request) : ({ type: 'refusal', refusal: choice.refusal } as const);
  return [{ id: id('msg', 0), type: 'message', role: 'assistant', status: isCut ? 'incomplete' : 'completed', content: [content] }];
}

function callItem(call: ToolCall, call_id: string, id: string, isCut: boolean): CallItem {
  const head = { id, status: isCut ? ('incomplete' as const) : ('completed' as const), call_id, name: call.name };
  return call.kind === 'custom'
    ? { ...head, type: 'custom_tool_call', input: call.arguments }
    : { ...head, type: 'function_call', arguments: call.arguments };
}

const outputText = (text: string, request: ResponseRequest): OutputText => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: textLogprobs(text, request),
});

/** Of a text, or of a piece of it. */
export const textLogprobs = (text: string, { include, top_logprobs }: ResponseRequest): readonly object[] =>
  include?.includes('message.output_text.logprobs') ? logprobsOf(text, top_logprobs ?? 0).content : [];
