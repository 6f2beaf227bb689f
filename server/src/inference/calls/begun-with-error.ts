import type { UpstreamFault } from '../../adapters/upstream/port.ts';
import type { StreamError } from './answer-form.ts';
import { invalidAnswer } from './attempts.ts';

/** In the words of OpenAI, Anthropic, Google and AWS. */
const LIMITED = /^(?:rate_limit_error|rate_limit_exceeded|resource_exhausted|throttlingexception)$/i;
/** The request is at fault: another provider of the model would say the same. */
const REFUSED = /^(?:context_length_exceeded|content_filter|content_policy_violation)$/;

/** An error that a stream begins with, in place of an answer: what its status would have said, had it not been sent before. */
export function faultOfFirstError({ message, type, code }: StreamError): UpstreamFault {
  const names = [type, code ?? ''];
  const fault: UpstreamFault = { ...invalidAnswer(message), isQuoted: true };
  if (names.some((name) => LIMITED.test(name))) return { ...fault, kind: 'rate_limited', status: 429 };
  if (names.some((name) => REFUSED.test(name)))
    return { ...fault, kind: 'rejected', status: 400, retryable: false, code: names.find((name) => REFUSED.test(name)) ?? null };
  return fault;
}
