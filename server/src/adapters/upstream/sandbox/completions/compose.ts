import { breather } from '../../../../kernel/turn.ts';
import type { UpstreamCallOf } from '../../port.ts';
import { AnswerSize, textBytes } from '../answer-size.ts';
import { billed } from '../billing.ts';
import { beforeStop } from '../chat/answer.ts';
import { ABOUT, quote } from '../chat/answer-text.ts';
import { type Composer, dataEvent, failWithError, type Piece, type StreamEvent, unixSeconds } from '../composition.ts';
import type { Rejection } from '../rejection.ts';
import { countTokens, countTokensOf, cutToTokens, wordsOf } from '../tokens.ts';
import { legacyLogprobs } from './legacy-logprobs.ts';

type Call = UpstreamCallOf<'/v1/completions'>;

interface Choice {
  /** What comes before the completion, where `echo` asks for it. */
  readonly echoed: string;
  readonly text: string;
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

/** A text, or so many tokens, which have no text here: no tokeniser is asked. */
type Prompt = string | number;

/** OpenAI's older completions: each prompt gets `n` choices that go on from it. */
export const composeCompletion: Composer<'/v1/completions'> = async (call, { idSeed, clock, fault }) => {
  const { request, maxOutputTokens } = call;
  const prompts = promptsOf(call);
  const head = { id: `cmpl-${idSeed.slice(0, 32)}`, object: 'text_completion', created: unixSeconds(clock), model: call.model };
  const choices = await choicesOf(call, prompts, head);
  if ('ok' in choices) return choices;
  const texts = prompts.filter((prompt) => typeof prompt === 'string');
  const prompt_tokens = prompts.reduce<number>(
    (sum, prompt) => sum + (typeof prompt === 'number' ? prompt : 0),
    countTokensOf([...texts, request.suffix ?? '']),
  );
  const completion_tokens = choices.reduce((sum, { tokens }) => sum + tokens, 0);
  const usage = billed(usageOf(prompt_tokens, completion_tokens), fault, () =>
    usageOf(prompt_tokens, 2 * maxOutputTokens * choices.length + 16),
  );
  return call.stream
    ? { ok: true, events: eventsOf(call, head, choices, usage), failure: failWithError }
    : { ok: true, contentType: 'application/json', pieces: bodyOf(call, head, choices, usage) };
};

const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

/** Names of a choice's log probabilities. */
const LOGPROBS_BYTES = 80;

function sizeOf(call: Call, head: object, prompts: number): AnswerSize {
  const { n, logprobs } = call.request;
  const event = eventOf(call, head, { text: '', index: 99_999, logprobs: null, finish_reason: null });
  return new AnswerSize({
    eventBytes: call.stream ? Buffer.byteLength(event) + LOGPROBS_BYTES : undefined,
    copies: 1,
    logprobs: typeof logprobs === 'number' ? 1 + logprobs : 0,
    advice: 'lower n, max_tokens or logprobs, or send fewer prompts',
    param: (n ?? 1) > 1 ? 'n' : typeof logprobs === 'number' ? 'logprobs' : prompts > 1 ? 'prompt' : null,
  });
}

function promptsOf({ request: { prompt } }: Call): Prompt[] {
  if (typeof prompt === 'string') return [prompt];
  const numbers = prompt.filter((one) => typeof one === 'number');
  if (numbers.length > 0) return [numbers.length];
  return prompt.flatMap((one): Prompt[] => (typeof one === 'string' ? [one] : typeof one === 'object' ? [one.length] : []));
}

/** Made in turns of the event loop, as far as the answer is not too large. */
async function choicesOf(call: Call, prompts: readonly Prompt[], head: object): Promise<Choice[] | Rejection> {
  const { echo, n, stop, suffix, logprobs } = call.request;
  const size = sizeOf(call, head, prompts.length);
  const rest = breather();
  const choices: Choice[] = [];
  for (const prompt of prompts) {
    await rest();
    const echoed = echo && typeof prompt === 'string' ? prompt : '';
    const echoedSize = { bytes: textBytes(echoed), tokens: typeof logprobs === 'number' ? countTokens(echoed) : 0 };
    const continuation = continuationOf(prompt, suffix);
    for (let index = 0; index < (n ?? 1); index += 1) {
      await rest();
      const cut = cutToTokens(beforeStop(continuation(index), stop), call.maxOutputTokens);
      const refusal = size.addChoice({
        bytes: echoedSize.bytes + textBytes(cut.text),
        tokens: echoedSize.tokens + cut.tokens,
        // That of the echo, and the last one.
        events: 2 + wordsOf(cut.text).length,
      });
      if (refusal) return refusal;
      choices.push({ echoed, text: cut.text, tokens: cut.tokens, finishReason: cut.isCut ? 'length' : 'stop' });
    }
  }
  return choices;
}

function continuationOf(prompt: Prompt, suffix: string | null | undefined): (index: number) => string {
  const what = typeof prompt === 'number' || prompt === '' ? `${prompt || 0} tokens` : quote(prompt);
  const before = suffix ? `, and leads to ${quote(suffix)}` : '';
  const said = ` … goes on from ${what}${before}. ${ABOUT}`;
  return (index) => (index > 0 ? `${said} (Choice ${index + 1}.)` : said);
}

/** One JSON body, a piece for each choice. */
function bodyOf(call: Call, head: object, choices: readonly Choice[], usage: object | undefined): Piece[] {
  const start = `${JSON.stringify(head).slice(0, -1)},"choices":[`;
  const end = `]${usage ? `,"usage":${JSON.stringify(usage)}` : ''}}`;
  return choices.map(({ echoed, text, finishReason }, index) => () => {
    const logprobs = logprobsFor(call, echoed + text, 0);
    const written = JSON.stringify({ text: echoed + text, index, logprobs, finish_reason: finishReason });
    return `${index === 0 ? start : ','}${written}${index === choices.length - 1 ? end : ''}`;
  });
}

const eventOf = ({ request }: Call, head: object, choice: object): string =>
  dataEvent({ ...head, choices: [choice], ...(request.stream_options?.include_usage && { usage: null }) });

/** Words by turns between the choices, then each choice's end, the usage, `[DONE]`. */
function eventsOf(call: Call, head: object, choices: readonly Choice[], usage: object | undefined): StreamEvent[] {
  const event = (part: StreamEvent['part'], choice: () => object): StreamEvent => ({
    part,
    text: () => eventOf(call, head, choice()),
  });
  const words = choices.map(({ echoed, text }) => [...(echoed === '' ? [] : [echoed]), ...wordsOf(text)]);
  const offsets = choices.map(() => 0);
  const contents: StreamEvent[] = [];
  const turns = Math.max(...words.map(({ length }) => length));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [index, ofChoice] of words.entries()) {
      const text = ofChoice[turn];
      if (text === undefined) continue;
      const offset = offsets[index] ?? 0;
      contents.push(event('content', () => ({ text, index, logprobs: logprobsFor(call, text, offset), finish_reason: null })));
      offsets[index] = offset + text.length;
    }
  }
  return [
    ...contents,
    ...choices.map(({ finishReason }, index) => event('closing', () => ({ text: '', index, logprobs: null, finish_reason: finishReason }))),
    ...(usage ? [{ part: 'closing', text: dataEvent({ ...head, choices: [], usage }) } as const] : []),
    { part: 'closing', text: 'data: [DONE]\n\n' },
  ];
}

const logprobsFor = ({ request: { logprobs } }: Call, text: string, offset: number) =>
  typeof logprobs === 'number' ? legacyLogprobs(text, logprobs, offset) : null;
