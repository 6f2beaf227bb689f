import type { ErrorEntry } from './error-entry.ts';

/** Status 429: the same request succeeds later. */
export const LIMIT_ERRORS = {
  context_length_exceeded: {
    status: 400,
    title: 'The prompt is too long',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The prompt has more tokens than the context window of the model, so nothing was held and no provider was asked. Shorten it, or choose a model with a larger window: `context_length` of `GET /v1/models`. `POST /v1/responses` leaves the oldest items out with `truncation: "auto"`.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limit reached',
    type: 'rate_limit_error',
    retryable: true,
    help: 'Too many requests or tokens in a minute, or too many requests at once, for the API key or for the plan; the detail says which. Repeat after `Retry-After` seconds. Without that header the request alone is larger than the limit: lower what the detail names, such as `max_tokens`.',
  },
  budget_in_flight: {
    status: 429,
    title: 'Running requests hold the rest of the budget',
    type: 'rate_limit_error',
    retryable: true,
    help: 'The request would fit under its caps once requests that are running now settle for less than they hold. Repeat after `Retry-After` seconds.',
  },
  disconnected_in_flight: {
    status: 429,
    title: 'Too many abandoned requests are still running',
    type: 'rate_limit_error',
    retryable: true,
    help: 'Clients of this API key hung up on requests whose providers are still at work, and bill for it. Their answers are read to the end, so that the real usage is charged; until some of them have ended, the key starts no more. Repeat after `Retry-After` seconds, and read answers to the end.',
  },
  upstream_rate_limited: {
    status: 429,
    title: 'The provider’s rate limit is reached',
    type: 'rate_limit_error',
    retryable: true,
    help: 'Every deployment that could serve the request answered 429. Repeat after `Retry-After` seconds, or name fallbacks in `models`.',
  },
} as const satisfies Record<string, ErrorEntry>;
