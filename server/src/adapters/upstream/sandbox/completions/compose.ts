import type { UpstreamCallOf } from '../../port.ts';
import { type AnswerSize, tooLarge } from '../answer-size.ts';
import { billed } from '../billing.ts';
import { beforeStop } from '../chat/answer.ts';
import { ABOUT, quote } from '../chat/answer-text.ts';
import { type Composer, dataEvent, failWithError, jsonBody, type StreamEvent, unixSeconds } from '../composition.ts';
import { countTokens, cutToTokens, wordsOf } from '../tokens.ts';
import { legacyLogprobs } from './legacy-logprobs.ts';

type Call = UpstreamCallOf<'/v1/completions'>;

interface Choice {
  /** What stands before the completion, where `echo` asks for it. */
  readonly echoed: string;
  readonly text: string;
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

interface Prompt {
  readonly text: string;
  readonly tokens: number;
}

/** OpenAI's older completions: each prompt gets `n` choices that go on from it. */
export const composeCompletion: Composer<'/v1/completions'> = (call, { fingerprint, clock, fault }) => {
  const { request, maxOutputTokens } = call;
  const prompts = promptsOf(call);
  const prompted = prompts.reduce((sum, { tokens }) => sum + tokens, 0);
  const refusal = tooLarge(sizeOf(call, prompts.length, prompted));
  if (refusal) return refusal;
  const choices = choicesOf(call, prompts);
  const prompt_tokens = prompted + countTokens(request.suffix ?? '');
  const completion_tokens = choices.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage = billed(usageOf(prompt_tokens, completion_tokens), fault, () =>
    usageOf(prompt_tokens, 2 * maxOutputTokens * choices.length + 16),
  );
  const head = { id: `cmpl-${fingerprint.slice(0, 32)}`, object: 'text_completion', created: unixSeconds(clock), model: call.model };
  if (!call.stream) {
    const said = choices.map(({ echoed, text, finishReason }, index) => ({
      text: echoed + text,
      index,
      logprobs: logprobsFor(call, echoed + text, 0),
      finish_reason: finishReason,
    }));
    return jsonBody({ ...head, choices: said, usage });
  }
  return { ok: true, events: eventsOf(call, head, choices, usage), failure: failWithError };
};

const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

/** A completion is a sentence or two. */
const COMPLETION_TOKENS = 150;

function sizeOf({ request, maxOutputTokens }: Call, prompts: number, prompted: number): AnswerSize {
  const { echo, logprobs, n } = request;
  const each = n ?? 1;
  const tokens = prompts * each * Math.min(maxOutputTokens, COMPLETION_TOKENS) + (echo ? prompted * each : 0);
  return { choices: prompts * each, tokens, logprobs: typeof logprobs === 'number' ? 1 + logprobs : 0 };
}

/** The prompts, each as its text and its number of tokens. Tokens have no text here: no tokeniser is asked. */
function promptsOf({ request: { prompt } }: Call): Prompt[] {
  const ofText = (text: string) => ({ text, tokens: countTokens(text) });
  const ofTokens = (tokens: readonly number[]) => ({ text: '', tokens: tokens.length });
  if (typeof prompt === 'string') return [ofText(prompt)];
  const numbers = prompt.filter((one) => typeof one === 'number');
  if (numbers.length > 0) return [ofTokens(numbers)];
  return prompt.flatMap((one) => (typeof one === 'string' ? [ofText(one)] : typeof one === 'object' ? [ofTokens(one)] : []));
}

function choicesOf(call: Call, prompts: readonly Prompt[]): Choice[] {
  const { echo, n, stop, suffix } = call.request;
  return prompts.flatMap((prompt) =>
    Array.from({ length: n ?? 1 }, (_, index) => {
      const cut = cutToTokens(beforeStop(continuationOf(prompt, suffix, index), stop), call.maxOutputTokens);
      const finishReason = cut.isCut ? ('length' as const) : ('stop' as const);
      return { echoed: echo ? prompt.text : '', text: cut.text, tokens: cut.tokens, finishReason };
    }),
  );
}

function continuationOf(prompt: Prompt, suffix: string | null | undefined, index: number): string {
  const what = prompt.text === '' ? `${prompt.tokens} tokens` : quote(prompt.text);
  const before = suffix ? `, and leads to ${quote(suffix)}` : '';
  const which = index > 0 ? ` (Choice ${index + 1}.)` : '';
  return ` … goes on from ${what}${before}. ${ABOUT}${which}`;
}

/** Words by turns between the choices, then each choice's end, the usage, `[DONE]`. */
function eventsOf(call: Call, head: object, choices: readonly Choice[], usage: object | undefined): StreamEvent[] {
  const event = (part: StreamEvent['part'], choice: object): StreamEvent => ({
    part,
    text: dataEvent({ ...head, choices: [choice], ...(call.request.stream_options?.include_usage && { usage: null }) }),
  });
  const words = choices.map(({ echoed, text }) => [...(echoed === '' ? [] : [echoed]), ...wordsOf(text)]);
  const offsets = choices.map(() => 0);
  const contents: StreamEvent[] = [];
  for (let turn = 0; turn < Math.max(...words.map(({ length }) => length)); turn += 1) {
    for (const [index, ofChoice] of words.entries()) {
      const text = ofChoice[turn];
      if (text === undefined) continue;
      const offset = offsets[index] ?? 0;
      contents.push(event('content', { text, index, logprobs: logprobsFor(call, text, offset), finish_reason: null }));
      offsets[index] = offset + text.length;
    }
  }
  return [
    ...contents,
    ...choices.map(({ finishReason }, index) => event('closing', { text: '', index, logprobs: null, finish_reason: finishReason })),
    ...(usage ? [{ part: 'closing', text: dataEvent({ ...head, choices: [], usage }) } as const] : []),
    { part: 'closing', text: 'data: [DONE]\n\n' },
  ];
}

const logprobsFor = ({ request: { logprobs } }: Call, text: string, offset: number) =>
  typeof logprobs === 'number' ? legacyLogprobs(text, logprobs, offset) : null;
