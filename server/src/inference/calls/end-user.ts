import { hash } from 'node:crypto';
import type { SpendingReader } from '../../money/limits/index.ts';
import type { Caller } from './call-context.ts';
import type { InferenceHeaders } from './headers.ts';

/** As `X-End-User` has it. */
const WRITTEN = /^[\x21-\x7e]{1,128}$/;

/**
 * The headers with the end user whom the body names: `safety_identifier`, or `user` of older clients; `metadata.user_id` of Messages. A name that
 * a header could not have stands there by its hash, so that nobody escapes a limit by it.
 */
export function withEndUser(headers: InferenceHeaders, body: unknown, endpoint: string): InferenceHeaders {
  if (typeof body !== 'object' || body === null) return headers;
  const named = endpoint === MESSAGES ? userOfMessages(body) : (fieldOf(body, 'safety_identifier') ?? fieldOf(body, 'user'));
  if (named === undefined) return headers;
  return { ...headers, endUser: WRITTEN.test(named) ? named : `sha256:${hash('sha256', named, 'hex').slice(0, 32)}` };
}

const MESSAGES = '/v1/messages';

function userOfMessages(body: object): string | undefined {
  const metadata = 'metadata' in body ? body.metadata : undefined;
  return typeof metadata === 'object' && metadata !== null ? fieldOf(metadata, 'user_id') : undefined;
}

function fieldOf(body: object, field: 'safety_identifier' | 'user' | 'user_id'): string | undefined {
  const value = field in body ? (body as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A key has the limits of its account in its grant; those of a session are read where it is to run a model. */
export async function withLimits(grant: Caller, { spendingOf }: { readonly spendingOf: SpendingReader }): Promise<Caller> {
  const spending = await spendingOf(grant.principal.accountId);
  return spending ? { ...grant, spending } : grant;
}
