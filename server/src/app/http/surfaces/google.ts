import { type FieldError, type GoogleError, googleStatusAt, statusAt, statusOn } from '@tallygate/contract';
import * as z from 'zod';
import { inOpenAiNotation } from '../../../kernel/invalid-input.ts';
import type { SurfaceForm } from './surface.ts';

/** How an answer is written: `$alt` is another name of `alt`, and JSON is never indented. */
function queryOf<Alt extends z.ZodType<string>>(alt: Alt) {
  const pretty = z.enum(['true', 'false']).optional();
  return z
    .object({ alt: alt.optional(), $alt: alt.optional(), prettyPrint: pretty, $prettyPrint: pretty })
    .refine(({ alt: one, $alt: other }) => one === undefined || other === undefined || one === other, {
      path: ['$alt'],
      error: 'must say the same as `alt`',
    });
}

/** Google's generated clients ask for enums as numbers and read their names as well. */
const JSON_FORMS = ['json', 'json;enum-encoding=int'] as const;
const OF_ANSWERS = queryOf(z.enum(JSON_FORMS));
const OF_STREAMS = queryOf(z.enum([...JSON_FORMS, 'sse']));

/** Google's errors (https://cloud.google.com/apis/design/errors), with our own code beside them. */
export const googleSurface: SurfaceForm = {
  requestIdHeader: 'x-goog-request-id',
  query: ({ events }) => (events ? OF_STREAMS : OF_ANSWERS),
  refusal({ code, extras: { upstream } }, { headers, body }) {
    // What a provider has said keeps its status.
    const status = upstream ? statusAt('google', upstream.status) : statusOn('google', code);
    const { detail, instance, type, error, errors, budget } = body;
    const details = [...violations(errors), ...retryInfo(headers['retry-after'])];
    const told: GoogleError = {
      error: { code: status, message: detail, status: googleStatusAt(status), ...(details.length > 0 && { details }) },
      request_id: instance,
      ...{ code, doc_url: type, param: error.param },
      ...(errors && { errors }),
      ...(budget && { budget }),
    };
    return { status, headers: { ...headers, 'content-type': 'application/json' }, body: told };
  },
};

const violations = (errors: readonly FieldError[] | undefined) =>
  errors === undefined
    ? []
    : [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: errors.map(({ loc, msg }) => ({ field: inOpenAiNotation(loc.slice(1)), description: msg })),
        },
      ];

const retryInfo = (seconds: string | undefined) =>
  seconds === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }];
