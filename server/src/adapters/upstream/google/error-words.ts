import { statedUsage } from '../../../kernel/stated-usage.ts';
import type { Words } from '../fault.ts';
import { isRecord, type Json, jsonIn, recordsIn, textIn } from '../json-value.ts';
import { usageOf } from './usage.ts';

/** Reasons that speak of our key or our account, though Google answers them with 400 as it does a wrong request. */
const GATEWAY_REASONS = new Set(['API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_SERVICE_BLOCKED', 'SERVICE_DISABLED', 'CONSUMER_INVALID']);
/** The state of the project: no billing, a country that Google does not serve. */
const GATEWAY_STATUSES = new Set(['FAILED_PRECONDITION', 'UNAUTHENTICATED', 'PERMISSION_DENIED']);

/**
 * Reads `{ error: { code, message, status, details } }` (google.rpc.Status), which some endpoints wrap in a list. `google.rpc.RetryInfo` in the
 * details is Google's way of `Retry-After`. The fields that it names are its own and would mean nothing to the caller.
 */
export function googleWords(text: string): Words {
  const document = jsonIn(text);
  const body: unknown = Array.isArray(document) ? document[0] : document;
  const error = isRecord(body) ? body['error'] : undefined;
  if (!isRecord(error)) return { message: text, param: null, code: null };
  const details = recordsIn(error['details']);
  const status = textIn(error['status']);
  const reason = details.map((detail) => textIn(detail['reason'])).find((word) => word !== undefined);
  const isOurs = GATEWAY_STATUSES.has(status ?? '') || GATEWAY_REASONS.has(reason ?? '');
  const isTooLong = /input token count .*exceeds the maximum number of tokens/i.test(textIn(error['message']) ?? '');
  const retryAfterMs = details.map(retryDelayMs).find((ms) => ms !== undefined);
  return {
    message: textIn(error['message']) ?? text,
    param: null,
    code: isTooLong ? 'context_length_exceeded' : (reason ?? status ?? null),
    usage: usageOf(statedUsage(body)),
    ...(isOurs && { blames: 'gateway' }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** A protobuf duration in JSON: `"34.074824224s"`. */
function retryDelayMs({ '@type': type, retryDelay }: Json): number | undefined {
  if (typeof type !== 'string' || !type.endsWith('google.rpc.RetryInfo') || typeof retryDelay !== 'string') return undefined;
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(retryDelay) ?? [];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}
