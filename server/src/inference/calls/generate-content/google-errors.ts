import { ERRORS, type ErrorCode, GOOGLE_STATUSES, type GoogleStatus, googleStatusAt, statusOn } from '@tallygate/contract';
import type { StreamError } from '../answer-form.ts';

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** Of `google.rpc.Code`, with the status of HTTP that Google gives it. */
const STATUSES: Readonly<Record<GoogleStatus, number>> = {
  ...{ INVALID_ARGUMENT: 400, UNAUTHENTICATED: 401, PERMISSION_DENIED: 403, NOT_FOUND: 404, ABORTED: 409, RESOURCE_EXHAUSTED: 429 },
  ...{ INTERNAL: 500, UNAVAILABLE: 503, DEADLINE_EXCEEDED: 504 },
};

const googleStatusIn = (code: string | null): GoogleStatus | undefined => GOOGLE_STATUSES.find((status) => status === code);

/** Google's error for what ended a stream: Google's own, one of our codes, or another provider's, of which only that it failed is known. */
export function streamedError({ message, code }: StreamError): {
  readonly error: { readonly code: number; readonly message: string; readonly status: GoogleStatus };
} {
  const said = googleStatusIn(code);
  if (said) return { error: { code: STATUSES[said], message, status: said } };
  const status = code !== null && isErrorCode(code) ? statusOn('google', code) : 500;
  return { error: { code: status, message, status: googleStatusAt(status) } };
}
