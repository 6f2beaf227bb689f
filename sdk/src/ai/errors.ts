import { ConnectionError, TallygateError } from '../errors.ts';
import { errorOfAnswer } from '../transport/read-problem.ts';

/**
 * The gateway's problem document, from an error that the AI SDK throws (`APICallError`, or `RetryError` around it) or passes to `onError`:
 * the same classes as the errors of `Tallygate`. `undefined` for errors that are about something else.
 */
export function tallygateErrorOf(error: unknown): TallygateError | undefined {
  if (error instanceof TallygateError) return error;
  if (!(error instanceof Error)) return undefined;
  const { statusCode, responseHeaders, responseBody, lastError } = error as {
    readonly statusCode?: number;
    readonly responseHeaders?: Readonly<Record<string, string>>;
    readonly responseBody?: string;
    readonly lastError?: unknown;
  };
  if (lastError !== undefined) return tallygateErrorOf(lastError);
  // An answer that was a success, and broke off.
  if (statusCode !== undefined && statusCode < 400) return new ConnectionError(error.message, error, 'stream_cut');
  if (statusCode !== undefined)
    return errorOfAnswer({ status: statusCode, headers: new Headers({ ...responseHeaders }), text: responseBody ?? '' });
  return error.name === 'AI_APICallError' ? new ConnectionError(error.message, error.cause) : undefined;
}
