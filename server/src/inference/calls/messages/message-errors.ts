import { ANTHROPIC_ERROR_TYPES, anthropicErrorType, ERRORS, type ErrorCode } from '@tallygate/contract';
import type { StreamError } from '../answer-form.ts';

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

/** Anthropic's class of what ended a stream: of one of our codes, or the provider's own. */
function typeOf(code: string | null): string {
  if (code === null) return 'api_error';
  if (isErrorCode(code)) return anthropicErrorType(code);
  return ANTHROPIC_ERROR_TYPES.find((type) => type === code) ?? 'api_error';
}

/** The event that ends a stream that broke. */
export const errorEvent = ({ message, code }: StreamError): Buffer =>
  Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: typeOf(code), message } })}\n\n`);
