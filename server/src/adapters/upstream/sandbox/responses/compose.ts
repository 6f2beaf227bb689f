import { billed } from '../billing.ts';
import { composeAnswer } from '../chat/answer.ts';
import { type Composer, jsonBody, namedEvent, unixSeconds } from '../composition.ts';
import { tokensWithin } from '../tokens.ts';
import { asChat, asResponseRejection } from './as-chat.ts';
import { responseEvents } from './events.ts';
import { outputOf } from './output.ts';
import { type ResponseHead, type ResponseUsage, responseObject } from './response.ts';

/** OpenAI's Responses: the same answer as a chat would get, as items. Nothing is kept: the input has to be whole. */
export const composeResponse: Composer<'/v1/responses'> = (call, { fingerprint, clock, fault }) => {
  const { model, request, maxOutputTokens } = call;
  const chat = asChat(request);
  const answer = composeAnswer({ model, request: chat.request, maxOutputTokens }, fault?.name === 'refusal');
  if (!answer.ok) return asResponseRejection(answer, chat.origins);
  const inputTokens = tokensWithin([request.input, request.instructions, request.tools, request.text]);
  const usage = billed(usageOf(inputTokens, answer.completionTokens, answer.reasoningTokens), fault, () =>
    usageOf(inputTokens, 2 * maxOutputTokens + 16, answer.reasoningTokens),
  );
  const status = answer.choices.some(({ finishReason }) => finishReason === 'length') ? 'incomplete' : 'completed';
  const head: ResponseHead = { id: `resp_${fingerprint.slice(0, 48)}`, createdAt: unixSeconds(clock), model, request };
  const ended = { status, output: outputOf(answer, request, fingerprint), usage } as const;
  if (!call.stream) return jsonBody(responseObject(head, ended));
  return {
    ok: true,
    events: responseEvents(head, ended),
    failure: ({ message, code, param }, sent) => namedEvent({ type: 'error', code, message, param, sequence_number: sent }),
  };
};

const usageOf = (input_tokens: number, output_tokens: number, reasoning_tokens: number): ResponseUsage => ({
  input_tokens,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens,
  output_tokens_details: { reasoning_tokens },
  total_tokens: input_tokens + output_tokens,
});
