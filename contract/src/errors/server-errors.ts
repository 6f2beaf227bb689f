import type { ErrorEntry } from './error-entry.ts';

/** Statuses from 500: the caller did nothing wrong. */
export const SERVER_ERRORS = {
  internal_error: {
    status: 500,
    title: 'Internal error',
    type: 'server_error',
    retryable: true,
    help: 'A defect of the service. Report it with the request id; nothing was charged that has no receipt.',
  },
  upstream_failed: {
    status: 502,
    title: 'The provider failed',
    type: 'server_error',
    retryable: true,
    help: 'Every deployment that could serve the request failed or answered something that is no valid answer. Nothing was charged, unless a provider began an answer and broke it off, or says in its error what it has used: the detail says so, and the receipt has the amount.',
  },
  no_provider_configured: {
    status: 503,
    title: 'No provider for this model',
    type: 'server_error',
    retryable: false,
    help: 'No deployment is configured that serves this model for live keys. The detail names the setting; `tg_test_` keys use the sandbox provider.',
  },
  shared_capacity_full: {
    status: 503,
    title: 'The gateway serves as many requests as it can',
    type: 'server_error',
    retryable: true,
    help: 'As many requests are running as this gateway serves at the same time (`GATEWAY_CONCURRENCY`), less what is reserved for accounts with dedicated capacity, or as many large bodies are in its memory as fit (`LARGE_BODIES_BYTES`). Repeat after `Retry-After` seconds.',
  },
  store_unavailable: {
    status: 503,
    title: 'Accounting is unavailable',
    type: 'server_error',
    retryable: true,
    help: 'The store that holds budgets and records usage cannot be reached, so nothing may be spent. Repeat later.',
  },
  payments_unavailable: {
    status: 503,
    title: 'The payment provider is unavailable',
    type: 'server_error',
    retryable: true,
    help: 'The payment provider did not answer, or did not accept the request. What was asked for may be repeated under the same `Idempotency-Key`.',
  },
  storage_unavailable: {
    status: 503,
    title: 'File storage is unavailable',
    type: 'server_error',
    retryable: true,
    help: 'Files can be neither stored nor read at present. Nothing of the request was kept. Repeat later.',
  },
  provider_loop: {
    status: 508,
    title: 'A provider leads back to this gateway',
    type: 'server_error',
    retryable: false,
    help: 'The request has come back to a gateway that has sent it on already, or has passed too many of them: a provider of one of them is another one of them, or itself. Nothing was charged for this round. The operator of the gateways has to change the address of that provider in `PROVIDERS_FILE` or the variables.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The provider did not answer in time',
    type: 'server_error',
    retryable: true,
    help: 'No deployment sent a first byte within the time limit. A provider that bills the request all the same is paid, at most what was held: the receipt tells the amount.',
  },
} as const satisfies Record<string, ErrorEntry>;
