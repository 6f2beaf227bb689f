import { jsonLength } from '../../../../kernel/written-json.ts';
import type { UpstreamCallOf } from '../../port.ts';
import { AnswerSize } from '../answer-size.ts';
import { billed } from '../billing.ts';
import { composeAnswer } from '../chat/answer.ts';
import { lastUserMessage, textOf } from '../chat/answer-text.ts';
import { type Composer, namedEvent, unixSeconds } from '../composition.ts';
import { tokensWithin } from '../tokens.ts';
import { asChat, asResponseRejection } from './as-chat.ts';
import { responseEvents } from './events.ts';
import { runHostedTools } from './hosted-calls.ts';
import { idIn, outputOf } from './output.ts';
import { type ResponseHead, type ResponseUsage, responseObject } from './response.ts';

/** OpenAI's Responses: the same answer as a chat would get, as items. Nothing is kept: the input has to be whole. */
export const composeResponse: Composer<'/v1/responses'> = async (call, { idSeed, clock, fault }) => {
  const { model, request, maxOutputTokens } = call;
  const chat = asChat(request);
  const size = sizeOf(call);
  const { input: _, ...echoed } = request;
  const refusal = size.addBytes((call.stream ? STREAMED_HEADS : 1) * ((await jsonLength(echoed)) + HEAD_BYTES));
  if (refusal) return refusal;
  const answer = await composeAnswer({ model, request: chat.request, maxOutputTokens, size }, fault?.name === 'refusal');
  if (!answer.ok) return asResponseRejection(answer, chat.origins);
  const hosted = await runHostedTools(request, textOf(lastUserMessage(chat.request.messages)?.content), idIn(idSeed));
  const tooLarge = size.addBytes((call.stream ? STREAMED_ITEMS : 1) * (await jsonLength(hosted.items)));
  if (tooLarge) return tooLarge;
  const prompt = tokensWithin([request.input, request.instructions, request.tools, request.text]);
  // Every call is followed by another pass over the prompt.
  const inputTokens = prompt * (1 + hosted.calls) + hosted.tokens;
  const usage = billed(usageOf(inputTokens, answer.completionTokens, answer.reasoningTokens), fault, () =>
    usageOf(inputTokens, 2 * maxOutputTokens + 16, answer.reasoningTokens),
  );
  const status = answer.choices.some(({ finishReason }) => finishReason === 'length') ? 'incomplete' : 'completed';
  const head: ResponseHead = { id: `resp_${idSeed.slice(0, 48)}`, createdAt: unixSeconds(clock), model, request };
  const output = outputOf(answer, request, hosted.items, idSeed);
  const ended = { status, output, usage, toolUsage: hosted.calls > 0 ? hosted.toolUsage : undefined } as const;
  if (!call.stream) return { ok: true, contentType: 'application/json', pieces: [() => JSON.stringify(responseObject(head, ended))] };
  return {
    ok: true,
    events: responseEvents(head, ended),
    failure: ({ message, code, param }, sent) => namedEvent({ type: 'error', code, message, param, sequence_number: sent }),
  };
};

/** The response stands in a stream three times: when it is created, in progress, and complete. */
const STREAMED_HEADS = 3;
/** An item stands in a stream when it is begun, when it is done, and in the response. */
const STREAMED_ITEMS = 3;
/** Of a response besides what it takes over from its request, and what it says. */
const HEAD_BYTES = 4096;
/** What is said stands in a stream in its deltas, at the end of the text, of the part and of the item, and in the response. */
const STREAMED_COPIES = 5;
const EVENT_BYTES = 280;

const sizeOf = ({ request, stream }: UpstreamCallOf<'/v1/responses'>): AnswerSize =>
  new AnswerSize({
    eventBytes: stream ? EVENT_BYTES : undefined,
    copies: stream ? STREAMED_COPIES : 1,
    logprobs: request.include?.includes('message.output_text.logprobs') ? 1 + (request.top_logprobs ?? 0) : 0,
    advice: 'lower max_output_tokens or top_logprobs, or send shorter instructions, tools and formats',
    param: null,
  });

const usageOf = (input_tokens: number, output_tokens: number, reasoning_tokens: number): ResponseUsage => ({
  input_tokens,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens,
  output_tokens_details: { reasoning_tokens },
  total_tokens: input_tokens + output_tokens,
});
