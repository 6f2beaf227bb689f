import * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import { accountRoleAllows, managementScopeOf } from '../scopes.ts';
import type { Route } from './route.ts';

type Answers = (route: Route) => boolean;

const always: Answers = () => true;
/** What is answered before it is known which operation is meant. */
const beforeAnyOperation: Answers = () => false;
/** By no operation but those that name it in their `errors`. */
const whereDeclared: Answers = () => false;
const withStatus =
  (status: number): Answers =>
  ({ responses }) =>
    responses.some((answer) => answer.status === status);

/** Whether the body has one of the fields. */
const takesField = ({ body }: Route, ...names: string[]) => body instanceof z.ZodObject && names.some((name) => name in body.shape);
const takesForm: Answers = ({ bodyType }) => bodyType === 'multipart/form-data';
const takesEither: Answers = ({ metadata }) => metadata.body === 'form-or-json';
const isWebhook: Answers = ({ metadata }) => metadata.body === 'webhook';
const takesBody: Answers = (route) => route.body !== undefined && !isWebhook(route);
const takesJson: Answers = (route) => takesBody(route) && route.bodyType === 'application/json';
/** Also one without any input refuses a query parameter that it does not have. */
const takesInput: Answers = (route) => withStatus(422)(route) || route.metadata.surface !== undefined;

const isBearer: Answers = ({ metadata }) => metadata.auth === 'bearer';
const isPublic: Answers = ({ metadata }) => metadata.auth === 'none';
const hasTag =
  (...tags: string[]): Answers =>
  ({ metadata }) =>
    tags.includes(metadata.tag);
const movesMoney: Answers = ({ metadata }) => metadata.scope === 'billing:write' || metadata.scope === 'admin:write';
const changesKeys: Answers = ({ metadata }) => metadata.scope === 'keys:write';

/** Holds money before anything is asked of a provider. A batch does, too, and the refusals of its lines are among its own errors. */
const spends: Answers = ({ isInference }) => isInference;
const isBatch: Answers = (route) => spends(route) && hasTag('Batches')(route);
const runsModel: Answers = (route) => spends(route) && !isBatch(route);
const namesModel: Answers = (route) => runsModel(route) || route.metadata.errors?.also?.includes('model_not_found') === true;
/** Continues a stored object, by its id. */
const namesKept: Answers = (route) =>
  route.path.includes('_id}') ||
  takesField(route, 'previous_response_id', 'conversation', 'input_file_id', 'video', 'characters', 'input_reference');
const isVideoWork: Answers = (route) => runsModel(route) && hasTag('Videos')(route);

const takesPassword: Answers = (route) => takesField(route, 'password', 'current_password', 'new_password');
const isDeviceLogin: Answers = (route) => takesField(route, 'device_code');
/** What guesses could be tried on, or mails be sent with: counted by address, and by what is guessed at. */
const isThrottled: Answers = (route) =>
  (isPublic(route) && route.method === 'post' && !isWebhook(route)) ||
  route.path.endsWith('/registration-status') ||
  takesPassword(route) ||
  takesField(route, 'user_code');

/** What is drafted, published and put away. */
const changesState: Answers = (route) =>
  hasTag('Events', 'Marketing events')(route) &&
  route.metadata.role !== undefined &&
  (route.method === 'patch' || /\/(?:publish|unpublish|archive)$/.test(route.path));
const sellsPlaces: Answers = (route) => hasTag('Events')(route) && movesMoney(route);
/** Plans and payments that are the payment provider’s as well: settings are the service’s own. */
const asksPaymentProvider: Answers = (route) =>
  sellsPlaces(route) || (hasTag('Plans')(route) && movesMoney(route) && route.method !== 'put');
/** Documents and health of the service: they do not need the store, or report it in the answer. */
const isAboutService: Answers = (route) => isPublic(route) && hasTag('Discovery')(route);
const storesBytes: Answers = (route) => hasTag('Files')(route) && takesBody(route);

/** Not of every member of an account: the scopes that all roles have are those of reading, and of one's own login. */
const isOfSomeMembers: Answers = ({ metadata: { scope, role, accountRole, everyAccountRole } }) =>
  role !== undefined || accountRole !== undefined || (scope !== undefined && !everyAccountRole && !accountRoleAllows('viewer', scope));

/** Which operations answer with a code: what they take, ask and change decides, unless an operation says otherwise in its `errors`. */
const ANSWERED_BY: Readonly<Record<ErrorCode, Answers>> = {
  malformed_json: (route) => takesJson(route) || takesEither(route),
  malformed_multipart: (route) => takesForm(route) || takesEither(route),
  malformed_request: beforeAnyOperation,
  expectation_failed: beforeAnyOperation,
  headers_too_large: always,
  unknown_path: beforeAnyOperation,
  method_not_allowed: beforeAnyOperation,
  request_timeout: takesBody,
  payload_too_large: (route) => route.body !== undefined,
  body_too_complex: (route) => takesJson(route) || takesEither(route) || route.metadata.body === 'mail',
  unsupported_media_type: takesBody,
  validation_failed: takesInput,

  missing_credentials: (route) => !isPublic(route),
  invalid_credentials: (route) => !isPublic(route),
  ambiguous_credentials: isBearer,
  invalid_signature: runsModel,
  signature_required: isBearer,
  scope_required: ({ metadata }) => metadata.scope !== undefined || metadata.manage !== undefined,
  management_key_not_allowed: (route) => isBearer(route) && managementScopeOf(route.metadata) === undefined,
  address_not_allowed: isBearer,
  // How a key’s requests are signed is changed by people only.
  session_required: (route) => route.metadata.session === true || (changesKeys(route) && takesField(route, 'require_signature')),
  // Keys act within their own limits and mode.
  forbidden: isOfSomeMembers,
  live_key_required: movesMoney,
  storing_off: ({ metadata }) => metadata.stores === true,
  plan_required: spends,
  dedicated_capacity_required: runsModel,
  model_not_allowed: runsModel,
  endpoint_not_allowed: spends,

  confirmation_failed: (route) => isBearer(route) && takesField(route, 'password', 'current_password'),
  invalid_mfa_code: (route) => takesField(route, 'code') && (isBearer(route) || takesField(route, 'challenge_token')),
  challenge_expired: (route) => takesField(route, 'challenge_token'),
  invalid_passkey: whereDeclared,
  recent_login_required: whereDeclared,
  authorization_pending: isDeviceLogin,
  slow_down: isDeviceLogin,
  access_denied: isDeviceLogin,
  expired_token: isDeviceLogin,
  invalid_token: (route) => takesField(route, 'token'),
  directory_login_required: whereDeclared,
  invalid_invite: whereDeclared,
  invalid_webhook: isWebhook,

  not_found: (route) => withStatus(404)(route) && (!namesModel(route) || namesKept(route)),
  model_not_found: namesModel,
  range_not_satisfiable: withStatus(416),
  conflict: (route) => (route.isInference ? namesKept(route) && !isBatch(route) : withStatus(409)(route)),
  slug_taken: (route) => hasTag('Events')(route) && takesField(route, 'slug'),
  invalid_transition: changesState,
  registration_closed: (route) => route.path.endsWith('/register'),
  idempotency_conflict: ({ isIdempotent }) => isIdempotent,
  idempotency_in_progress: ({ isIdempotent }) => isIdempotent,

  // Who is refused too often is refused before the next body is read; what is public and takes none, never.
  rate_limited: (route) => !isPublic(route) || route.method !== 'get' || isThrottled(route),
  budget_exceeded: spends,
  budget_in_flight: spends,
  disconnected_in_flight: runsModel,
  // A WebSocket is no operation of the contract.
  realtime_sessions_full: beforeAnyOperation,
  session_expired: beforeAnyOperation,
  upgrade_required: beforeAnyOperation,
  shared_capacity_full: runsModel,
  run_exhausted: spends,
  run_closed: spends,
  unpriced_feature: runsModel,
  upstream_rejected: runsModel,
  context_length_exceeded: (route) => runsModel(route) && takesField(route, 'messages', 'input'),
  answer_too_large: runsModel,
  upstream_rate_limited: runsModel,
  upstream_failed: runsModel,
  upstream_timeout: runsModel,
  no_provider_configured: runsModel,
  provider_loop: runsModel,
  store_unavailable: (route) => !isAboutService(route),

  payment_declined: whereDeclared,
  payments_unavailable: (route) => asksPaymentProvider(route) || isWebhook(route),
  storage_limit_reached: storesBytes,
  storage_unavailable: (route) => takesForm(route) || isBatch(route) || isVideoWork(route),
  internal_error: always,
};

/**
 * Whether an operation answers with a code. Tests that call the service check that no other code occurs
 * (`declared-refusals.setup.ts`).
 */
export function answersWith(code: ErrorCode, route: Route): boolean {
  const { also, never } = route.metadata.errors ?? {};
  return also?.includes(code) || (ANSWERED_BY[code](route) && !never?.includes(code));
}
