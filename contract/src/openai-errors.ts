import { ERRORS, type ErrorCode } from './errors.ts';

/** Rankings are no operation of OpenAI's, and are refused as everything else that runs a model. */
const OPENAI_PATH =
  /^\/v1\/(?:chat|responses|conversations|completions|embeddings|rerank|moderations|images|audio|video|videos|files|uploads|batches|models|realtime)(?:\/|$)/;

/** An operation of the interface for OpenAI's clients that OpenAI does not have: it keeps the statuses of the interface. */
const ONLY_HERE = /^\/v1\/video\//;

/** What OpenAI calls it, where it has a code of its own. */
const OPENAI_CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_credentials: 'invalid_api_key',
  invalid_credentials: 'invalid_api_key',
  budget_exceeded: 'insufficient_quota',
  run_exhausted: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
};

/** Whether the operation at a path is one of OpenAI's, which refuses as OpenAI does. */
export const isOpenAiPath = (path: string): boolean => OPENAI_PATH.test(path) && !ONLY_HERE.test(path);

/** The status of a refusal at a path: OpenAI knows no 422, and its operations answer 400 to input that is not valid. */
export function statusAtPath(path: string, code: ErrorCode): number {
  const { status } = ERRORS[code];
  return status === 422 && isOpenAiPath(path) ? 400 : status;
}

/** The `error.code` of a refusal: on OpenAI's operations OpenAI's own code, where it has one; ours is in `code` beside it. */
export const openAiCodeAt = (path: string, code: ErrorCode): string => (OPENAI_PATH.test(path) && OPENAI_CODES[code]) || code;
