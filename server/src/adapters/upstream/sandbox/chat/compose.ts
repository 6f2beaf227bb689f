import type { ChatCall } from '../../port.ts';
import { AnswerSize } from '../answer-size.ts';
import { billed } from '../billing.ts';
import { type Composer, failWithError, unixSeconds } from '../composition.ts';
import type { SandboxFault } from '../faults.ts';
import { tierOf } from '../service-tier.ts';
import { type Answer, composeAnswer } from './answer.ts';
import { completionBody, completionEvents, eventBytes, type Head, type Usage, usageOf } from './chat-completion.ts';

/** Chat completions: words, calls of tools, JSON by schema. */
export const composeChat: Composer<'/v1/chat/completions'> = async (call, { idSeed, clock, fault }) => {
  const head: Head = {
    id: `chatcmpl-${idSeed.slice(0, 32)}`,
    created: unixSeconds(clock),
    model: call.model,
    service_tier: tierOf(call.request),
    system_fingerprint: 'fp_tallygate_sandbox',
  };
  const { request, stream } = call;
  const size = new AnswerSize({
    eventBytes: stream ? eventBytes(head, request) : undefined,
    copies: 1,
    logprobs: request.logprobs ? 1 + (request.top_logprobs ?? 0) : 0,
    advice: 'lower n, max_tokens or top_logprobs, or ask for a smaller object',
    param: (request.n ?? 1) > 1 ? 'n' : request.logprobs ? 'logprobs' : null,
  });
  const answer = await composeAnswer({ ...call, size }, fault?.name === 'refusal');
  if (!answer.ok) return answer;
  const usage = billedUsage(call, answer, fault);
  if (stream) return { ok: true, events: completionEvents(head, answer, request, usage), failure: failWithError };
  return { ok: true, contentType: 'application/json', pieces: completionBody(head, answer, request, usage) };
};

// A provider that ignores the bound: twice of what was held, and more than nothing where nothing was.
const billedUsage = ({ maxOutputTokens, request }: ChatCall, answer: Answer, fault: SandboxFault | undefined): Usage | undefined =>
  billed(usageOf(answer), fault, (usage) => {
    const completion_tokens = 2 * maxOutputTokens * (request.n ?? 1) + 16;
    return { ...usage, completion_tokens, total_tokens: usage.prompt_tokens + completion_tokens };
  });
