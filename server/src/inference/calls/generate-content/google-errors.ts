import { ERRORS, type ErrorCode, type GoogleStatus, googleStatusAt, statusOn } from '@tallygate/contract';
import type { StreamError } from '../answer-form.ts';

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** Google's error for what ended a stream: for one of our codes, or a provider's own, of which only that it failed is known. */
export function streamedError({ message, code }: StreamError): {
  readonly error: { readonly code: number; readonly message: string; readonly status: GoogleStatus };
} {
  const status = code !== null && isErrorCode(code) ? statusOn('google', code) : 500;
  return { error: { code: status, message, status: googleStatusAt(status) } };
}
