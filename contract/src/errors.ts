/** What a caller of the OpenAI SDK sees as `error.type`. */
type OpenAiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'insufficient_quota'
  | 'rate_limit_error'
  | 'server_error';

interface ErrorEntry {
  status: number;
  /** Short and constant: the problem document's `title`. */
  title: string;
  type: OpenAiErrorType;
  /** Whether the same request can succeed later without being changed. */
  retryable: boolean;
  /** When it happens and what to do about it: the text of the code's documentation page. */
  help: string;
}

/**
 * Every error the service answers with. The docs' error pages, the SDK's error classes and the CLI's exit codes are made from this list;
 * a code that is not here cannot be thrown.
 */
export const ERRORS = {
  malformed_json: {
    status: 400,
    title: 'Malformed JSON',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The body is not valid JSON. The detail says at which position parsing stopped.',
  },
  malformed_multipart: {
    status: 400,
    title: 'Malformed form',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The body is not valid multipart/form-data (RFC 7578). The detail says what is wrong with it. HTTP clients set the header and write the body themselves: leave both to yours.',
  },
  upstream_rejected: {
    status: 400,
    title: 'The provider refused the request',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The provider that serves this model answered that the request itself is at fault. Its own message is in the detail; nothing was charged.',
  },
  invalid_webhook: {
    status: 400,
    title: 'Webhook not believed',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The event is not signed with the webhook secret of this server, or is older than five minutes. Compare STRIPE_WEBHOOK_SECRET with the secret of the endpoint, and the clock of this server.',
  },
  invalid_token: {
    status: 400,
    title: 'The link is not valid any more',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The token of the mail is mistyped, was used, has expired or was replaced by a newer one. Ask for another mail.',
  },
  missing_credentials: {
    status: 401,
    title: 'No credential',
    type: 'authentication_error',
    retryable: false,
    help: 'Send an API key or a session token as `Authorization: Bearer …`.',
  },
  invalid_credentials: {
    status: 401,
    title: 'Credential not accepted',
    type: 'authentication_error',
    retryable: false,
    help: 'The credential is mistyped, unknown, expired or revoked, or the e-mail address and password do not belong together.',
  },
  ambiguous_credentials: {
    status: 401,
    title: 'Two different credentials',
    type: 'authentication_error',
    retryable: false,
    help: 'The request carries credentials of two different identities. Send exactly one of them.',
  },
  invalid_signature: {
    status: 401,
    title: 'Request signature not accepted',
    type: 'authentication_error',
    retryable: false,
    help: 'The request is signed (RFC 9421), and its signature does not hold: the detail says what is wrong. Sign every attempt anew, with a fresh `created` and `nonce`, over the very bytes that are sent.',
  },
  signature_required: {
    status: 401,
    title: 'Request signature required',
    type: 'authentication_error',
    retryable: false,
    help: 'This API key accepts signed requests only (`require_signature`). Send `Content-Digest`, `Signature-Input` and `Signature` with inference requests; for everything else, use another key or a session.',
  },
  invalid_mfa_code: {
    status: 401,
    title: 'Code not accepted',
    type: 'authentication_error',
    retryable: false,
    help: 'The code of the second factor is wrong or was used before, at a login or where a code confirms a change. Wait for the next code of the app, check its clock, or use a recovery code. A session that the request carries goes on.',
  },
  challenge_expired: {
    status: 401,
    title: 'The login has to start again',
    type: 'authentication_error',
    retryable: false,
    help: 'The challenge is unknown, was used, is older than five minutes or has taken its five tries. Log in with the password again.',
  },
  budget_exceeded: {
    status: 402,
    title: 'A spending limit is reached',
    type: 'insufficient_quota',
    retryable: false,
    help: 'The worst-case cost of the request does not fit under one of its caps, and waiting for running requests would not change that. `budget` says which cap and by how much: raise the cap, lower `max_tokens`, or send `X-Budget-Policy: clamp`.',
  },
  run_exhausted: {
    status: 402,
    title: 'The agent run is used up',
    type: 'insufficient_quota',
    retryable: false,
    help: 'The run, or a run above it, has made all the calls that `X-Agent-Max-Calls` allows, or its `X-Agent-Deadline` has passed. Both can only be tightened, and waiting changes neither: begin a new run. What was running at the deadline was stopped, and charged as far as it had been generated.',
  },
  run_closed: {
    status: 403,
    title: 'The agent run is closed',
    type: 'permission_error',
    retryable: false,
    help: 'Somebody closed the run, or a run above it, with `POST /v1/runs/{run_id}/close`. It stays closed: begin a new run. What was running then was stopped, and charged as far as it had been generated.',
  },
  payment_declined: {
    status: 402,
    title: 'The card was declined',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The payment provider did not take the money, and nothing was changed. The detail says why: use another card, in the customer portal or on a checkout page.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    type: 'permission_error',
    retryable: false,
    help: 'The credential is good, but its owner’s role, or the limits of the API key itself, do not cover this operation. The detail says which.',
  },
  confirmation_failed: {
    status: 403,
    title: 'Password not accepted, or code missing',
    type: 'permission_error',
    retryable: false,
    help: 'This change has to be confirmed with the password, and with a code where a second factor is on: the password is wrong, or the code was not sent. The session goes on. A wrong code is `invalid_mfa_code`.',
  },
  scope_required: {
    status: 403,
    title: 'The API key lacks a scope',
    type: 'permission_error',
    retryable: false,
    help: 'Use an API key that carries the scope named in the detail, or sign in and use a session.',
  },
  session_required: {
    status: 403,
    title: 'A signed-in session is required',
    type: 'permission_error',
    retryable: false,
    help: 'API keys cannot do this. Log in with `POST /v1/users/login` and send the session token.',
  },
  model_not_allowed: {
    status: 403,
    title: 'The API key may not use this model',
    type: 'permission_error',
    retryable: false,
    help: 'The key is limited to certain models (`allowed_models`), and the request names another one, as its model or among its fallbacks. Use one of the key’s models, or change the key.',
  },
  endpoint_not_allowed: {
    status: 403,
    title: 'The API key may not use this endpoint',
    type: 'permission_error',
    retryable: false,
    help: 'The key is limited to certain endpoints (`allowed_endpoints`), and this is none of them. Use another key, or change this one.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    type: 'invalid_request_error',
    retryable: false,
    help: 'There is no such object, or it belongs to somebody else; the two are answered alike.',
  },
  unknown_path: {
    status: 404,
    title: 'No such endpoint',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The path is not part of this service. `/openapi.json` lists all of them; the base URL of OpenAI clients ends in `/v1`.',
  },
  model_not_found: {
    status: 404,
    title: 'No such model',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The model is not in the catalogue, or it does not serve this endpoint. `GET /v1/models` lists every model with its endpoints.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The path exists, but not with this method. The `Allow` header lists the methods it has.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The request’s headers are larger than 16 KiB together. Send fewer or shorter ones.',
  },
  malformed_request: {
    status: 400,
    title: 'Not an HTTP request',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The bytes received are no valid HTTP/1.1 request.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    type: 'invalid_request_error',
    retryable: true,
    help: 'The body was not received in full within the time limit. Nothing was charged.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The object exists already or is in a state that does not allow this. The detail says which.',
  },
  idempotency_conflict: {
    status: 409,
    title: 'Idempotency key reused',
    type: 'invalid_request_error',
    retryable: false,
    help: 'This `Idempotency-Key` was used before with a different request. Use a fresh key for a different request.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'The first request is still running',
    type: 'invalid_request_error',
    retryable: true,
    help: 'A request with this `Idempotency-Key` is still running. Repeat after `Retry-After` seconds to get its answer.',
  },
  payload_too_large: {
    status: 413,
    title: 'Body too large',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The body is larger than this endpoint accepts: 10 MiB on inference, 256 KiB elsewhere, 512 MiB for a file, unless configured otherwise.',
  },
  storage_limit_reached: {
    status: 413,
    title: 'The account’s storage is full',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The account’s files, and the parts of its unfinished uploads, would take more room together than the account has. Delete files or cancel uploads; files with `expires_after` delete themselves.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'No such range',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The `Range` header begins behind the end of the file. `Content-Range` says how long the file is.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    type: 'invalid_request_error',
    retryable: false,
    help: 'Send the body as `Content-Type: application/json`, and files as `multipart/form-data`, without a `Content-Encoding`.',
  },
  validation_failed: {
    status: 422,
    title: 'Invalid input',
    type: 'invalid_request_error',
    retryable: false,
    help: 'At least one field, header or parameter is missing, unknown or out of range. `errors` lists each of them with its location.',
  },
  unpriced_feature: {
    status: 422,
    title: 'The feature has no price',
    type: 'invalid_request_error',
    retryable: false,
    help: 'The request asks the provider for something the catalogue has no price for, so no cap could hold it. Remove the field named in `error.param`.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limit reached',
    type: 'rate_limit_error',
    retryable: true,
    help: 'Too many requests or tokens in a minute, or too many requests at once, for the API key or for the plan; the detail says which. Repeat after `Retry-After` seconds. Without that header the request alone is larger than the limit: lower `max_tokens`.',
  },
  budget_in_flight: {
    status: 429,
    title: 'Running requests hold the rest of the budget',
    type: 'rate_limit_error',
    retryable: true,
    help: 'The request would fit under its caps once requests that are running now settle for less than they hold. Repeat after `Retry-After` seconds.',
  },
  upstream_rate_limited: {
    status: 429,
    title: 'The provider’s rate limit is reached',
    type: 'rate_limit_error',
    retryable: true,
    help: 'Every deployment that could serve the request answered 429. Repeat after `Retry-After` seconds, or name fallbacks in `models`.',
  },
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
    help: 'Every deployment that could serve the request failed or answered something that is no valid answer. Nothing was charged.',
  },
  no_provider_configured: {
    status: 503,
    title: 'No provider for this model',
    type: 'server_error',
    retryable: false,
    help: 'No deployment is configured that serves this model for live keys. The detail names the setting; `tg_test_` keys use the sandbox provider.',
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
  upstream_timeout: {
    status: 504,
    title: 'The provider did not answer in time',
    type: 'server_error',
    retryable: true,
    help: 'No deployment sent a first byte within the time limit. Nothing was charged.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];
