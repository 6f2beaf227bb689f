import * as z from 'zod';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors.ts';
import type { HTTPValidationError, Problem } from '../problem.ts';
import type { Route } from './route.ts';

const onInference = (route: Route) => route.isInference;
const onEvery = () => true;
const onNone = () => false;

/** Whether the body has a field of that name. */
const takesField = ({ body }: Route, name: string) => body instanceof z.ZodObject && name in body.shape;
const takesForm = ({ bodyType }: Route) => bodyType === 'multipart/form-data';
const storesFiles = ({ metadata }: Route) => metadata.tag === 'Files';
const takesToken = (route: Route) => takesField(route, 'token');
/** Paid for with money of the customer's own. */
const pays = (route: Route) => route.metadata.scope === 'billing:write' && route.metadata.tag === 'Plans';
const sellsPlaces = ({ metadata }: Route) => metadata.tag === 'Events' && metadata.scope === 'billing:write';
/** What is drafted, published and put away. */
const hasStates = ({ metadata }: Route) => metadata.tag.toLowerCase().endsWith('events') && metadata.role !== undefined;
const isDevice = (route: Route) => takesField(route, 'device_code');
const isSecondStep = (route: Route) => takesField(route, 'challenge_token');

/** Which routes answer with a code, among those that declare its status. Codes that are not listed here go with every such route. */
const ANSWERED_BY: Partial<Record<ErrorCode, (route: Route) => boolean>> = {
  malformed_json: (route) => !takesForm(route),
  malformed_multipart: takesForm,
  upstream_rejected: onInference,
  invalid_token: takesToken,
  invalid_invite: (route) => route.metadata.operationId === 'activateBetaInvite',
  invalid_webhook: (route) => route.metadata.operationId === 'receiveStripeEvent',
  budget_exceeded: onInference,
  payment_declined: pays,
  payments_unavailable: (route) => (route.metadata.tag === 'Plans' && route.metadata.auth !== 'none') || sellsPlaces(route),
  authorization_pending: isDevice,
  slow_down: isDevice,
  access_denied: isDevice,
  expired_token: isDevice,
  recent_login_required: (route) => route.metadata.operationId === 'approveDeviceLogin',
  missing_credentials: (route) => route.metadata.auth !== 'none',
  invalid_mfa_code: (route) => takesField(route, 'code'),
  challenge_expired: isSecondStep,
  ambiguous_credentials: (route) => route.metadata.auth === 'bearer',
  confirmation_failed: (route) =>
    route.metadata.auth === 'bearer' && (takesField(route, 'password') || takesField(route, 'current_password')),
  scope_required: (route) => route.metadata.scope !== undefined,
  session_required: (route) => route.metadata.session === true,
  forbidden: (route) => route.metadata.role !== undefined || (!route.metadata.scope && !route.metadata.session),
  not_found: (route) => !namesModel(route),
  model_not_found: (route) => namesModel(route),
  // The answers of the router to what is no operation.
  unknown_path: onNone,
  method_not_allowed: onNone,
  conflict: (route) => !route.isInference || /^\/v1\/videos\/.+/.test(route.path),
  slug_taken: (route) => takesField(route, 'slug'),
  invalid_transition: hasStates,
  registration_closed: (route) => route.path.endsWith('/register'),
  idempotency_conflict: (route) => route.isIdempotent,
  idempotency_in_progress: (route) => route.isIdempotent,
  unpriced_feature: onInference,
  storage_limit_reached: storesFiles,
  storage_unavailable: (route) => storesFiles(route) || takesForm(route),
  budget_in_flight: onInference,
  upstream_rate_limited: onInference,
  no_provider_configured: onInference,
};

const namesModel = (route: Route) => route.isInference || route.path.includes('{model}');

/** The codes that a route can answer a status with. */
export function codesOf(route: Route, status: number): ErrorCode[] {
  const codes = ERROR_CODES.filter((code) => ERRORS[code].status === status && (ANSWERED_BY[code] ?? onEvery)(route));
  if (codes.length === 0)
    throw new Error(`${route.metadata.operationId} declares ${status}, but no error code of its kind has that status.`);
  return codes;
}

const DOCS = 'http://127.0.0.1:8787/docs/errors';

/** The body of a refusal as it might be: what the documentation shows for a code. */
export function problemExample(code: ErrorCode): Problem | HTTPValidationError {
  const { status, title, type, help } = ERRORS[code];
  const detail = firstSentence(help);
  const param = PARAM[code] ?? null;
  return {
    type: `${DOCS}/${code}`,
    title,
    status,
    detail,
    instance: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77',
    code,
    error: { message: detail, type, code, param },
    ...(status === 422 && { errors: [{ loc: ['body', ...(param?.split('.') ?? [])], msg: detail, type: code }] }),
    ...((code === 'budget_exceeded' || code === 'budget_in_flight') && { budget: BUDGET[code] }),
  };
}

const PARAM: Partial<Record<ErrorCode, string>> = {
  model_not_found: 'model',
  unpriced_feature: 'web_search_options',
  validation_failed: 'name',
};

const BUDGET = {
  budget_exceeded: budget({ spent_usd: '0.0084', held_usd: '0', required_usd: '0.0021' }),
  budget_in_flight: budget({ spent_usd: '0.0072', held_usd: '0.0009', required_usd: '0.0021' }),
};

function budget(amounts: { spent_usd: string; held_usd: string; required_usd: string }): NonNullable<Problem['budget']> {
  return { limit_source: 'key', cap_usd: '0.01', ...amounts, resets_at: '2026-12-01T00:00:00.000Z' };
}

/** `[^.]` would stop inside “0.01” and “/v1/models.list”; a sentence ends where a full stop is followed by white space or nothing. */
function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/s.exec(text)?.[0] ?? text;
}
