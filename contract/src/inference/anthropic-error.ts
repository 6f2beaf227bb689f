import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import { statusOn } from '../surfaces.ts';
import { ownErrorFields } from './own-error-fields.ts';

const c = initContract();

export const ANTHROPIC_ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
] as const;
export type AnthropicErrorType = (typeof ANTHROPIC_ERROR_TYPES)[number];

const BY_STATUS: Readonly<Record<number, AnthropicErrorType>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Anthropic's class of an error with a status of its own. */
export const anthropicTypeAt = (status: number): AnthropicErrorType =>
  BY_STATUS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** Anthropic's class of one of our codes. */
export const anthropicErrorType = (code: ErrorCode): AnthropicErrorType => anthropicTypeAt(statusOn('anthropic', code));

export const AnthropicError = z
  .object({
    type: z.literal('error'),
    error: z.object({
      type: z.enum(ANTHROPIC_ERROR_TYPES).meta({ description: 'Anthropic’s class of error.', examples: ['invalid_request_error'] }),
      message: z.string().meta({ description: 'One sentence that says what to do.', examples: ['`max_tokens` is missing.'] }),
    }),
    ...ownErrorFields('max_tokens'),
  })
  .meta({ id: 'AnthropicError', description: 'An error in Anthropic’s form, with our own code beside it.' });
export type AnthropicError = z.infer<typeof AnthropicError>;

export const anthropicProblem = c.otherResponse({ contentType: 'application/json', body: AnthropicError });

/** How operations of this surface may refuse at most. */
export const anthropicRefusals = {
  400: anthropicProblem,
  401: anthropicProblem,
  402: anthropicProblem,
  403: anthropicProblem,
  404: anthropicProblem,
  408: anthropicProblem,
  409: anthropicProblem,
  413: anthropicProblem,
  415: anthropicProblem,
  429: anthropicProblem,
  431: anthropicProblem,
  500: anthropicProblem,
  502: anthropicProblem,
  503: anthropicProblem,
  504: anthropicProblem,
  508: anthropicProblem,
  529: anthropicProblem,
} as const;
