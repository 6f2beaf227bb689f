// Generated from contract/src/errors.ts by sdk/scripts/generate-errors.ts. Do not edit.

/** Every code the service answers with. */
export type ErrorCode =
  /** 400. The body is not valid JSON. The detail says at which position parsing stopped. */
  | 'malformed_json'
  /** 400. The body is not valid multipart/form-data (RFC 7578). The detail says what is wrong with it. HTTP clients set the header and write the body themselves: leave both to yours. */
  | 'malformed_multipart'
  /** 400. The provider that serves this model answered that the request itself is at fault. Its own message is in the detail; nothing was charged. */
  | 'upstream_rejected'
  /** 400. The provider answered with more than 64 MiB, or with an event of a stream of more than 32 MiB, and that is not kept; of Anthropic and Google, whose answers are translated, 16 and 2 MiB. The request is charged by the usage that the provider reports; where it reports none, by the most that was held. The same request would be charged again: ask for less in one request (lower `n`, `top_logprobs` or the size of images, send fewer inputs), or stream the answer. */
  | 'answer_too_large'
  /** 400. The detail says which: the event is not signed with the webhook secret of this server (compare STRIPE_WEBHOOK_SECRET with the secret of the endpoint), it was signed more than five minutes before or after now (compare the clock of this server), it is of the other mode of Stripe than the secret key of this server (compare STRIPE_SECRET_KEY), or it is signed and does not have the form of a Stripe event (compare the API version of the endpoint). Events of types that the server does not handle are acknowledged. */
  | 'invalid_webhook'
  /** 400. The token of the mail is mistyped, was used, has expired or was replaced by a newer one. Ask for another mail. */
  | 'invalid_token'
  /** 400. The code is unknown, mistyped, expired, revoked or used up, or it was mailed to another address. All of these are answered alike, so that codes cannot be guessed. Compare code and address with the invitation, or ask for another one. */
  | 'invalid_invite'
  /** 401. Send an API key or a session token as `Authorization: Bearer …`. */
  | 'missing_credentials'
  /** 401. The credential is mistyped, unknown, expired or revoked, or the e-mail address and password do not belong together. */
  | 'invalid_credentials'
  /** 401. The request carries credentials of two different identities. Send exactly one of them. */
  | 'ambiguous_credentials'
  /** 401. The request is signed (RFC 9421), and its signature does not hold: the detail says what is wrong. Sign every attempt anew, with a fresh `created` and `nonce`, over the very bytes that are sent. */
  | 'invalid_signature'
  /** 401. This API key accepts signed requests only (`require_signature`). Send `Content-Digest`, `Signature-Input` and `Signature` with inference requests; for everything else, use another key or a session. */
  | 'signature_required'
  /** 402. The worst-case cost of the request does not fit under one of its caps, and waiting for running requests would not change that. `budget` says which cap and by how much, and the detail names what to lower: `max_tokens`, `n`, `seconds`. Lower it, raise the cap, or send `X-Budget-Policy: clamp`. */
  | 'budget_exceeded'
  /** 402. The run, or a run above it, has made all the calls that `X-Agent-Max-Calls` allows, or its `X-Agent-Deadline` has passed. Both can only be tightened, and waiting changes neither: begin a new run. What was running at the deadline was stopped, and charged as far as it had been generated. */
  | 'run_exhausted'
  /** 403. Somebody closed the run, or a run above it, with `POST /v1/runs/{run_id}/close`. It stays closed: begin a new run. What was running then was stopped, and charged as far as it had been generated. */
  | 'run_closed'
  /** 402. The payment provider did not take the money, and nothing was changed. The detail says why: use another card, in the customer portal or on a checkout page. */
  | 'payment_declined'
  /** 403. The credential is good, but its owner’s role, or the limits of the API key itself, do not cover this operation. The detail says which. */
  | 'forbidden'
  /** 403. This change has to be confirmed with the password, and with a code where a second factor is on: the password is wrong, or the code was not sent. The session goes on. A wrong code is `invalid_mfa_code`. */
  | 'confirmation_failed'
  /** 403. Use an API key or a management key that carries the scope named in the detail, or sign in and use a session. */
  | 'scope_required'
  /** 403. Plans, cards, top-ups and refunds are of the real account. Use a `tg_live_` key with the scope `billing:write` (refunds and corrections: `admin:write`), or sign in and use a session. */
  | 'live_key_required'
  /** 403. The operator or the account has switched off that prompts and answers are kept. Send `store: false` and leave out `background` and `conversation`; send what came before with each request. Files, uploads, batches, conversations and videos need storing. The account switches it with `PATCH /v1/users/me` and `stores_content`, the operator with `STORE_CONTENT`. */
  | 'storing_off'
  /** 403. The detail names the feature. `GET /v1/plans/entitlements/matrix` says which plans have it. Where plans are sold, `POST /v1/plans/checkout` gets one; elsewhere the operator of the gateway gives it: `npm run admin -- plan ACCOUNT PLAN`. */
  | 'plan_required'
  /** 403. This address takes API keys of accounts that have reserved capacity by contract. Use the usual base URL of the gateway, or ask its operator for a contract. */
  | 'dedicated_capacity_required'
  /** 403. API keys cannot do this. Log in with `POST /v1/users/login` and send the session token; programs that administer the account use a management key where the operation takes one. */
  | 'session_required'
  /** 403. The key is limited to certain models (`allowed_models`), and the request names another one, as its model or among its fallbacks. Use one of the key’s models, or change the key. */
  | 'model_not_allowed'
  /** 403. The key is limited to certain endpoints (`allowed_endpoints`), and this is none of them. Use another key, or change this one. */
  | 'endpoint_not_allowed'
  /** 404. There is no such object, or it belongs to somebody else; the two are answered alike. */
  | 'not_found'
  /** 404. The path is not part of this service. `/openapi.json` lists all of them; the base URL of OpenAI clients ends in `/v1`. */
  | 'unknown_path'
  /** 404. The model is not in the catalogue, was retired by its provider, or does not serve this endpoint. The detail names the models that are called alike, and has the command that adds one; `GET /v1/models?all=true` lists every model with its endpoints. */
  | 'model_not_found'
  /** 405. The path exists, but not with this method. The `Allow` header lists the methods it has. */
  | 'method_not_allowed'
  /** 431. The request’s headers are larger than 16 KiB together. Send fewer or shorter ones. */
  | 'headers_too_large'
  /** 417. The header `Expect` asks for something else than `100-continue`. Leave it out. */
  | 'expectation_failed'
  /** 400. The bytes received are no valid HTTP/1.1 request. */
  | 'malformed_request'
  /** 408. The body was not received in full within the time limit. Nothing was charged. */
  | 'request_timeout'
  /** 409. The object exists already or is in a state that does not allow this. The detail says which. */
  | 'conflict'
  /** 409. Something of the same kind has this slug already, or it is reserved. Choose another one. */
  | 'slug_taken'
  /** 409. The object is in a state from which this step does not lead anywhere: what is archived cannot be published, say. The detail names the state. */
  | 'invalid_transition'
  /** 409. The event takes no registrations any more: the time is over, or it is not published at the moment. Anyone who is registered stays so. */
  | 'registration_closed'
  /** 409. This `Idempotency-Key` was used before with a different request. Use a fresh key for a different request. */
  | 'idempotency_conflict'
  /** 409. A request with this `Idempotency-Key` is still running. Repeat after `Retry-After` seconds to get its answer. */
  | 'idempotency_in_progress'
  /** 413. The body is larger than this endpoint accepts: 50 MiB on inference, 10 MiB where it is stored or counted, 256 KiB elsewhere, 512 MiB for a file, unless configured otherwise. */
  | 'payload_too_large'
  /** 413. The JSON body has more values, fields or levels than this endpoint accepts, a number of more than 1,000 digits, or a field name of more than 4,096 bytes. Inference takes 320,000 values, 30,000 of them fields of objects; other endpoints take 20,000, 10,000 of them fields. An object may have 5,000 fields, and arrays and objects may nest 256 levels deep. The detail says which bound was exceeded. Split the request. */
  | 'body_too_complex'
  /** 413. The account’s files, and the parts of its unfinished uploads, would take more room together than the account has. Delete files or cancel uploads; files with `expires_after` delete themselves. */
  | 'storage_limit_reached'
  /** 416. The `Range` header begins behind the end of the file. `Content-Range` says how long the file is. */
  | 'range_not_satisfiable'
  /** 415. Send the body as `Content-Type: application/json`, and files as `multipart/form-data`, as they are or with the `Content-Encoding` gzip, deflate or br. */
  | 'unsupported_media_type'
  /** 422. At least one field, header or parameter is missing, unknown or out of range. `errors` lists each of them with its location. OpenAI’s operations answer 400 to it, as OpenAI does. */
  | 'validation_failed'
  /** 422. The request asks the provider for something the catalogue has no price for, so no cap could hold it. Remove the field named in `error.param`. Where that is `model`, the model itself has no price yet: the detail has the command that sets it. */
  | 'unpriced_feature'
  /** 400. The prompt has more tokens than the context window of the model, so nothing was held and no provider was asked. Shorten it, or choose a model with a larger window: `context_length` of `GET /v1/models`. `POST /v1/responses` leaves the oldest items out with `truncation: "auto"`. */
  | 'context_length_exceeded'
  /** 429. Too many requests or tokens in a minute, or too many requests at once, for the API key or for the plan; the detail says which. Repeat after `Retry-After` seconds. Without that header the request alone is larger than the limit: lower what the detail names, such as `max_tokens`. */
  | 'rate_limited'
  /** 429. The request would fit under its caps once requests that are running now settle for less than they hold. Repeat after `Retry-After` seconds. */
  | 'budget_in_flight'
  /** 429. Clients of this API key hung up on requests whose providers are still at work, and bill for it. Their answers are read to the end, so that the real usage is charged; until some of them have ended, the key starts no more. Repeat after `Retry-After` seconds, and read answers to the end. */
  | 'disconnected_in_flight'
  /** 429. Every deployment that could serve the request answered 429. Repeat after `Retry-After` seconds, or name fallbacks in `models`. */
  | 'upstream_rate_limited'
  /** 401. The code of the second factor is wrong or was used before, at a login or where a code confirms a change. Wait for the next code of the app, check its clock, or use a recovery code. A session that the request carries goes on. */
  | 'invalid_mfa_code'
  /** 401. The challenge is unknown, was used, is older than five minutes or has taken its five tries. Begin again: with the password, or with the passkey. */
  | 'challenge_expired'
  /** 401. The passkey is not known here, belongs to somebody else, was made for another address, has not verified its user, or its counter shows that there is a copy of it. Log in with the password, and see the list of your passkeys. A session that the request carries goes on. */
  | 'invalid_passkey'
  /** 403. To sign a program in, and to add or remove a passkey, takes a session that a person opened with all factors within the last fifteen minutes. Log in again; nothing was changed. */
  | 'recent_login_required'
  /** 400. The person has not approved the login in a browser yet (RFC 8628). Ask again after `Retry-After` seconds. */
  | 'authorization_pending'
  /** 400. The login in a browser is not decided yet, and the program asks too often: from now on it waits five seconds longer between two questions (RFC 8628). `Retry-After` says how long. */
  | 'slow_down'
  /** 400. The person who was asked in the browser did not approve this login. Begin another one if that was a mistake. */
  | 'access_denied'
  /** 400. The device code is mistyped, was used, is older than ten minutes, or what it was approved with has changed since, such as the password. Begin the login again. */
  | 'expired_token'
  /** 403. Management keys (`tg_mgmt_…`) administer an account. They run no model, read nothing that was sent to one, and change neither a person’s own login nor other management keys. Use an API key for inference, and a session for the rest. */
  | 'management_key_not_allowed'
  /** 403. The management key is right, but it works from certain addresses only (`allowed_addresses`), and the request came from none of them. Behind a proxy, the operator of the gateway sets `TRUSTED_PROXIES`, so that it sees the addresses of callers. */
  | 'address_not_allowed'
  /** 403. The account has switched password login off: its members log in with the company’s directory. `GET /v1/users/login/methods` says where, and `tallygate login --sso` does it. Owners log in with a password all the same. */
  | 'directory_login_required'
  /** 426. `GET /v1/realtime` is a WebSocket: send `Connection: Upgrade`, `Upgrade: websocket`, `Sec-WebSocket-Version: 13` and `Sec-WebSocket-Key`, as every WebSocket client does. A proxy in front of the gateway has to pass these headers on. */
  | 'upgrade_required'
  /** 429. The API key has as many realtime sessions open on this gateway as it may have (`REALTIME_SESSIONS_PER_KEY`). Close some of them, and connect again. */
  | 'realtime_sessions_full'
  /** 400. A realtime session ends after 60 minutes, and after 30 minutes in which its client says nothing. Its responses are settled. Open another session. This code comes in an `error` event of the session, before it is closed. */
  | 'session_expired'
  /** 500. A defect of the service. Report it with the request id; nothing was charged that has no receipt. */
  | 'internal_error'
  /** 502. Every deployment that could serve the request failed or answered something that is no valid answer. Nothing was charged, unless a provider began an answer and broke it off, or says in its error what it has used: the detail says so, and the receipt has the amount. */
  | 'upstream_failed'
  /** 503. No deployment is configured that serves this model for live keys. The detail names the setting; `tg_test_` keys use the sandbox provider. */
  | 'no_provider_configured'
  /** 503. As many requests are running as this gateway serves at the same time (`GATEWAY_CONCURRENCY`), less what is reserved for accounts with dedicated capacity, or as many large bodies are in its memory as fit (`LARGE_BODIES_BYTES`). Repeat after `Retry-After` seconds. */
  | 'shared_capacity_full'
  /** 503. The store that holds budgets and records usage cannot be reached, so nothing may be spent. Repeat later. */
  | 'store_unavailable'
  /** 503. The payment provider did not answer, or did not accept the request. What was asked for may be repeated under the same `Idempotency-Key`. */
  | 'payments_unavailable'
  /** 503. Files can be neither stored nor read at present. Nothing of the request was kept. Repeat later. */
  | 'storage_unavailable'
  /** 508. The request has come back to a gateway that has sent it on already, or has passed too many of them: a provider of one of them is another one of them, or itself. Nothing was charged for this round. The operator of the gateways has to change the address of that provider in `PROVIDERS_FILE` or the variables. */
  | 'provider_loop'
  /** 504. No deployment sent a first byte within the time limit. A provider that bills the request all the same is paid, at most what was held: the receipt tells the amount. */
  | 'upstream_timeout';

/** The class of error that a code is thrown as, and whether the same request can succeed later without being changed. */
export const ERROR_KINDS = {
  malformed_json: { family: 'bad_request', retryable: false },
  malformed_multipart: { family: 'bad_request', retryable: false },
  upstream_rejected: { family: 'bad_request', retryable: false },
  answer_too_large: { family: 'bad_request', retryable: false },
  invalid_webhook: { family: 'bad_request', retryable: false },
  invalid_token: { family: 'bad_request', retryable: false },
  invalid_invite: { family: 'bad_request', retryable: false },
  missing_credentials: { family: 'authentication', retryable: false },
  invalid_credentials: { family: 'authentication', retryable: false },
  ambiguous_credentials: { family: 'authentication', retryable: false },
  invalid_signature: { family: 'authentication', retryable: false },
  signature_required: { family: 'authentication', retryable: false },
  budget_exceeded: { family: 'budget_exceeded', retryable: false },
  run_exhausted: { family: 'budget_exceeded', retryable: false },
  run_closed: { family: 'permission', retryable: false },
  payment_declined: { family: 'budget_exceeded', retryable: false },
  forbidden: { family: 'permission', retryable: false },
  confirmation_failed: { family: 'permission', retryable: false },
  scope_required: { family: 'permission', retryable: false },
  live_key_required: { family: 'permission', retryable: false },
  storing_off: { family: 'permission', retryable: false },
  plan_required: { family: 'permission', retryable: false },
  dedicated_capacity_required: { family: 'permission', retryable: false },
  session_required: { family: 'permission', retryable: false },
  model_not_allowed: { family: 'permission', retryable: false },
  endpoint_not_allowed: { family: 'permission', retryable: false },
  not_found: { family: 'not_found', retryable: false },
  unknown_path: { family: 'not_found', retryable: false },
  model_not_found: { family: 'not_found', retryable: false },
  method_not_allowed: { family: 'bad_request', retryable: false },
  headers_too_large: { family: 'bad_request', retryable: false },
  expectation_failed: { family: 'bad_request', retryable: false },
  malformed_request: { family: 'bad_request', retryable: false },
  request_timeout: { family: 'bad_request', retryable: true },
  conflict: { family: 'conflict', retryable: false },
  slug_taken: { family: 'conflict', retryable: false },
  invalid_transition: { family: 'conflict', retryable: false },
  registration_closed: { family: 'conflict', retryable: false },
  idempotency_conflict: { family: 'conflict', retryable: false },
  idempotency_in_progress: { family: 'conflict', retryable: true },
  payload_too_large: { family: 'bad_request', retryable: false },
  body_too_complex: { family: 'bad_request', retryable: false },
  storage_limit_reached: { family: 'bad_request', retryable: false },
  range_not_satisfiable: { family: 'bad_request', retryable: false },
  unsupported_media_type: { family: 'bad_request', retryable: false },
  validation_failed: { family: 'validation', retryable: false },
  unpriced_feature: { family: 'validation', retryable: false },
  context_length_exceeded: { family: 'bad_request', retryable: false },
  rate_limited: { family: 'rate_limit', retryable: true },
  budget_in_flight: { family: 'budget_in_flight', retryable: true },
  disconnected_in_flight: { family: 'rate_limit', retryable: true },
  upstream_rate_limited: { family: 'upstream', retryable: true },
  invalid_mfa_code: { family: 'authentication', retryable: false },
  challenge_expired: { family: 'authentication', retryable: false },
  invalid_passkey: { family: 'authentication', retryable: false },
  recent_login_required: { family: 'permission', retryable: false },
  authorization_pending: { family: 'bad_request', retryable: true },
  slow_down: { family: 'bad_request', retryable: true },
  access_denied: { family: 'bad_request', retryable: false },
  expired_token: { family: 'bad_request', retryable: false },
  management_key_not_allowed: { family: 'permission', retryable: false },
  address_not_allowed: { family: 'permission', retryable: false },
  directory_login_required: { family: 'permission', retryable: false },
  upgrade_required: { family: 'bad_request', retryable: false },
  realtime_sessions_full: { family: 'rate_limit', retryable: true },
  session_expired: { family: 'bad_request', retryable: true },
  internal_error: { family: 'server', retryable: true },
  upstream_failed: { family: 'upstream', retryable: true },
  no_provider_configured: { family: 'upstream', retryable: false },
  shared_capacity_full: { family: 'server', retryable: true },
  store_unavailable: { family: 'server', retryable: true },
  payments_unavailable: { family: 'server', retryable: true },
  storage_unavailable: { family: 'server', retryable: true },
  provider_loop: { family: 'server', retryable: false },
  upstream_timeout: { family: 'upstream', retryable: true },
} as const satisfies Record<ErrorCode, { family: string; retryable: boolean }>;
