import type { ErrorCode } from './errors.ts';

const OPENAI_PATH =
  /^\/v1\/(?:chat|responses|conversations|completions|embeddings|moderations|images|audio|video|videos|files|uploads|batches|models)(?:\/|$)/;

/** What OpenAI calls it, where it has a code of its own. */
const OPENAI_CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_credentials: 'invalid_api_key',
  invalid_credentials: 'invalid_api_key',
  budget_exceeded: 'insufficient_quota',
  run_exhausted: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
};

/** The `error.code` of a refusal: on OpenAI's operations OpenAI's own code, where it has one; ours is in `code` beside it. */
export const openAiCodeAt = (path: string, code: ErrorCode): string => (OPENAI_PATH.test(path) && OPENAI_CODES[code]) || code;
