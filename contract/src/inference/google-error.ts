import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import { statusOn } from '../surfaces.ts';
import { ownErrorFields } from './own-error-fields.ts';

const c = initContract();

/** Of `google.rpc.Code`, those that the gateway answers with. */
export const GOOGLE_STATUSES = [
  'INVALID_ARGUMENT',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'ABORTED',
  'RESOURCE_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
  'UNAVAILABLE',
] as const;
export type GoogleStatus = (typeof GOOGLE_STATUSES)[number];

const BY_STATUS: Readonly<Record<number, GoogleStatus>> = {
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Google's name of an error with a status of HTTP. */
export const googleStatusAt = (status: number): GoogleStatus => BY_STATUS[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');

/** Google's name of one of our codes. */
export const googleStatusOf = (code: ErrorCode): GoogleStatus => googleStatusAt(statusOn('google', code));

export const GoogleError = z
  .object({
    error: z.object({
      code: z.int().meta({ description: 'The HTTP status.', examples: [400] }),
      message: z.string().meta({ description: 'One sentence that says what to do.', examples: ['`contents` is missing.'] }),
      status: z.enum(GOOGLE_STATUSES).meta({ description: 'Google’s name of the error.', examples: ['INVALID_ARGUMENT'] }),
      details: z
        .array(z.looseObject({ '@type': z.string().meta({ examples: ['type.googleapis.com/google.rpc.BadRequest'] }) }))
        .optional()
        .meta({ description: 'Google’s details: the fields at fault, and how long to wait.' }),
    }),
    ...ownErrorFields('contents'),
  })
  .meta({ id: 'GoogleError', description: 'An error in Google’s form, with our own code beside it.' });
export type GoogleError = z.infer<typeof GoogleError>;

export const googleProblem = c.otherResponse({ contentType: 'application/json', body: GoogleError });

/** How operations of this surface may refuse at most. */
export const googleRefusals = {
  400: googleProblem,
  401: googleProblem,
  402: googleProblem,
  403: googleProblem,
  404: googleProblem,
  408: googleProblem,
  409: googleProblem,
  413: googleProblem,
  415: googleProblem,
  429: googleProblem,
  431: googleProblem,
  500: googleProblem,
  502: googleProblem,
  503: googleProblem,
  504: googleProblem,
  508: googleProblem,
} as const;
