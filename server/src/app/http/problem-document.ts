import { ERRORS, type FieldError, openAiCodeAt, statusAtPath } from '@tallygate/contract';
import type { Problem } from '../../kernel/problem.ts';
import { type RequestIds, shownIdOf } from './request-ids.ts';
import { SURFACE_FORMS } from './surfaces/index.ts';
import type { ProblemAnswer } from './surfaces/surface.ts';

/** What a problem document says beside the problem itself. */
interface ProblemContext {
  readonly requestId: string;
  /** Where this service is reached from outside, without a slash at the end: the base of the error pages. */
  readonly publicUrl: string;
  /** Of the request; left out where it is known to be one of OpenAI's operations. */
  readonly pathname?: string | undefined;
}

/** OpenAI's SDKs repeat these by themselves. */
const isRepeatedBySdks = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;

/** One of OpenAI's operations. */
const OPENAI_PATH = '/v1/responses';

/** RFC 9457 with OpenAI's `error` member, so that both kinds of client read their own. What we know and do not say stays here. */
export function toProblemDocument(problem: Problem, { requestId, publicUrl, pathname = OPENAI_PATH }: ProblemContext): ProblemAnswer {
  const { code, message: detail } = problem;
  const { param, budget, upstream } = problem.extras;
  // What a provider has said keeps its status.
  const status = upstream?.status ?? statusAtPath(pathname, code);
  // An input with one fault is told of in the same form as one with many.
  const errors = problem.extras.errors ?? (problem.status === 422 || status === 422 ? [faultOf(problem)] : undefined);
  const { title, type } = ERRORS[code];
  return {
    status,
    headers: headersOf(problem, status),
    body: {
      type: `${publicUrl}/docs/errors/${code}`,
      title,
      status,
      detail,
      instance: requestId,
      code,
      error: {
        message: detail,
        type: upstream?.type ?? type,
        code: upstream ? upstream.code : openAiCodeAt(pathname, code),
        param: param ?? null,
      },
      ...(errors && { errors }),
      ...(budget && { budget }),
    },
  };
}

export type ProblemReply = (
  problem: Problem,
  request: RequestIds & Pick<ProblemContext, 'pathname'>,
) => { status: number; headers: Record<string, string>; body: Buffer };

/** Problem documents, or what stands for them on a surface, as bytes, with the id that the caller will quote. */
export const createProblemReply =
  (publicUrl: () => string): ProblemReply =>
  (problem, request) => {
    const requestId = shownIdOf(request);
    const form = request.surface && SURFACE_FORMS[request.surface];
    const document = toProblemDocument(problem, { requestId, publicUrl: publicUrl(), pathname: request.pathname });
    const { status, headers, body } = form ? form.refusal(problem, document) : document;
    const named = { 'x-request-id': requestId, ...(form && { [form.requestIdHeader]: requestId }) };
    return { status, headers: { ...headers, ...named }, body: Buffer.from(JSON.stringify(body)) };
  };

/** The one fault of a refusal: `messages[0].role` is at `["body", "messages", 0, "role"]`. */
const faultOf = ({ code, message: msg, extras: { param = '' } }: Problem): FieldError => ({
  loc: ['body', ...(param.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step))],
  msg,
  type: code,
});

function headersOf({ code, extras }: Problem, status: number): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  // RFC 9110, section 15.5.2: a 401 names the scheme that would be accepted.
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (extras.retryAfterSeconds !== undefined) headers['retry-after'] = String(extras.retryAfterSeconds);
  if (!ERRORS[code].retryable && (status === 402 || isRepeatedBySdks(status))) headers['x-should-retry'] = 'false';
  return { ...headers, ...extras.headers };
}
