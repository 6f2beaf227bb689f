import { ERROR_KINDS, type ErrorCode } from './generated/errors.ts';
import type { BudgetDetail, FieldError, HTTPValidationError, Problem } from './generated/models.ts';
import { type RateLimits, rateLimitsOf } from './transport/rate-limits.ts';

/**
 * Codes of failures that this SDK names itself: they have no problem document. `unexpected_response`: the answer is not what the call was made
 * for, such as a page of a proxy. `not_modified`: the call sent `if-none-match`, and what the caller has is current (304).
 */
export type LocalErrorCode = 'connection_failed' | 'stream_cut' | 'timed_out' | 'aborted' | 'unexpected_response' | 'not_modified';

/** The service's codes, this SDK's own, and codes that a newer service may add. */
export type AnyErrorCode = ErrorCode | LocalErrorCode | (string & {});

/** What an error was made from. */
export interface ErrorOrigin {
  readonly status?: number | undefined;
  readonly code: AnyErrorCode;
  readonly headers?: Headers | undefined;
  readonly problem?: Problem | HTTPValidationError | undefined;
  readonly cause?: unknown;
}

/** Every failure of a call is one of these. Switch on `code`, or test for a subclass with `instanceof`. */
export class TallygateError extends Error {
  /** The HTTP status; `undefined` when no answer came. */
  readonly status: number | undefined;
  readonly code: AnyErrorCode;
  /** Quote it when asking for help: it finds the request in the service's logs and in `requests.get`. */
  readonly requestId: string | undefined;
  /** The problem document (RFC 9457) as the service sent it. */
  readonly problem: Problem | HTTPValidationError | undefined;
  readonly headers: Headers | undefined;
  /** How long the service asks to wait before the same request, seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, origin: ErrorOrigin) {
    super(message, { cause: origin.cause });
    this.name = new.target.name;
    this.status = origin.status;
    this.code = origin.code;
    this.problem = origin.problem;
    this.headers = origin.headers;
    this.requestId = origin.headers?.get('x-request-id') ?? origin.problem?.instance;
    this.retryAfterSeconds = secondsOf(origin.headers?.get('retry-after'));
  }
}

/** 400, 405, 408, 413, 415, 431: the request itself is at fault. */
export class BadRequestError extends TallygateError {}
/** 401: no credential, or one that is not accepted. */
export class AuthenticationError extends TallygateError {}
/** 403: the credential is good and does not allow this. */
export class PermissionError extends TallygateError {}
/** 404: it does not exist, or belongs to another account. */
export class NotFoundError extends TallygateError {}
/** 409: the state of the object does not allow this, or an idempotency key was used for something else. */
export class ConflictError extends TallygateError {}
/** 429: too much in a short time. Repeat after `retryAfterSeconds`. */
export class RateLimitError extends TallygateError {
  /** How much of which limit is left; `undefined` where the answer does not say. */
  get rateLimits(): RateLimits | undefined {
    return this.headers && rateLimitsOf(this.headers);
  }
}
/** 5xx that is the service's own. */
export class ServerError extends TallygateError {}
/** The provider behind the service failed, or there is none for the model. */
export class UpstreamError extends TallygateError {}

/** 402: a cap refuses the request, and waiting does not change that. */
export class BudgetExceededError extends TallygateError {
  /** Which cap, and by how much. */
  readonly budget: BudgetDetail | undefined;

  constructor(message: string, origin: ErrorOrigin) {
    super(message, origin);
    this.budget = budgetOf(origin.problem);
  }
}

/** 429 over money: running requests hold what this one would need. Repeat after `retryAfterSeconds`. */
export class BudgetInFlightError extends RateLimitError {
  /** Which cap, and how much of it is held. */
  readonly budget: BudgetDetail | undefined;

  constructor(message: string, origin: ErrorOrigin) {
    super(message, origin);
    this.budget = budgetOf(origin.problem);
  }
}

/** 400 on OpenAI’s operations, 422 elsewhere: at least one field, header or parameter is wrong. */
export class ValidationError extends TallygateError {
  /** Every fault found, each with its location. */
  readonly errors: readonly FieldError[];

  constructor(message: string, origin: ErrorOrigin) {
    super(message, origin);
    this.errors = origin.problem?.errors ?? [];
  }
}

/** No answer came, or it broke off. */
export class ConnectionError extends TallygateError {
  constructor(message: string, cause?: unknown, code: 'connection_failed' | 'stream_cut' = 'connection_failed') {
    super(message, { code, cause });
  }
}

/** No answer came within `timeoutMs`. */
export class TimeoutError extends TallygateError {
  constructor(timeoutMs: number) {
    super(`No answer within ${timeoutMs} ms.`, { code: 'timed_out' });
  }
}

/** The caller's own signal ended the call. */
export class AbortError extends TallygateError {
  constructor(cause: unknown) {
    super('The call was aborted.', { code: 'aborted', cause });
  }
}

const FAMILIES = {
  bad_request: BadRequestError,
  authentication: AuthenticationError,
  budget_exceeded: BudgetExceededError,
  budget_in_flight: BudgetInFlightError,
  permission: PermissionError,
  not_found: NotFoundError,
  conflict: ConflictError,
  validation: ValidationError,
  rate_limit: RateLimitError,
  server: ServerError,
  upstream: UpstreamError,
} as const;

type Family = keyof typeof FAMILIES;

/** Codes that are younger than this SDK are classed by their status. */
const FAMILY_OF_STATUS: Readonly<Record<number, Family>> = {
  401: 'authentication',
  402: 'budget_exceeded',
  403: 'permission',
  404: 'not_found',
  409: 'conflict',
  422: 'validation',
  429: 'rate_limit',
};

const isKnownCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_KINDS, code);

/** Whether the code says that the same request may succeed later; `undefined` for codes this SDK does not know. */
export const isRetryableCode = (code: string): boolean | undefined => (isKnownCode(code) ? ERROR_KINDS[code].retryable : undefined);

/** The typed error of an answer that is no success, or of an error event in a stream (which has no status). */
export function errorFromProblem(message: string, origin: ErrorOrigin): TallygateError {
  const family: Family = isKnownCode(origin.code) ? ERROR_KINDS[origin.code].family : familyOfStatus(origin.status);
  return new FAMILIES[family](message, origin);
}

function familyOfStatus(status: number | undefined): Family {
  if (status === undefined) return 'upstream';
  return FAMILY_OF_STATUS[status] ?? (status >= 500 ? 'server' : 'bad_request');
}

const budgetOf = (problem: ErrorOrigin['problem']): BudgetDetail | undefined =>
  problem !== undefined && 'budget' in problem ? problem.budget : undefined;

const secondsOf = (header: string | null | undefined): number | undefined => (header && /^\d+$/.test(header) ? Number(header) : undefined);
