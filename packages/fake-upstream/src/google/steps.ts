import type { Step } from '../step.ts';
import type { GoogleSaying, GoogleUsage } from './saying.ts';

/** Google's error answer (google.rpc.Status). */
export const refused = (status: number, name: string, message: string, details: readonly object[] = []): Step => ({
  status,
  body: { error: { code: status, message, status: name, ...(details.length > 0 && { details }) } },
});

export const invalid = (message: string): Step => refused(400, 'INVALID_ARGUMENT', message);

/** As Google reports it: only in the body. */
export const exhausted = (retryDelay: string): Step =>
  refused(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: 'GenerateRequestsPerMinute' }] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ]);

/** With the status of a wrong request. */
export const keyInvalid = (): Step =>
  refused(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
  ]);

export const overloaded = (): Step => refused(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');

export const saying = (google: GoogleSaying): Step => ({ google });

/** The exact usage with some of its members replaced. */
export const usage = (members: Partial<GoogleUsage>): Step => saying({ usage: (exact) => ({ ...exact, ...members }) });
