import type { CreateKeyRequest, UpdateKeyRequest } from '@tallygate/contract';
import { fromBase64url, isPublicKey } from '@tallygate/receipts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import type { Problem } from '../../kernel/problem.ts';
import type { Plan, RateLimits } from '../../money/plans/index.ts';
import type { ApiKey, KeySettings } from './api-key.ts';

/** What settings are judged by. */
interface Surroundings {
  readonly isModel: (id: string) => boolean;
  /** Of the account. */
  readonly plan: Plan;
  readonly livemode: boolean;
  /** Of all test keys of the account together. */
  readonly testRates: RateLimits;
  readonly now: Date;
}

/**
 * The settings that a request gives, and no others.
 * @throws Problem `validation_failed` for an expiry that is past, an unknown model, a rate above the plan's, a public key that is none
 */
export function settingsFrom(input: UpdateKeyRequest | CreateKeyRequest, surroundings: Surroundings): KeySettings {
  const { name, project_id, scopes, expires_at, allowed_models, allowed_endpoints, metadata, signing_public_key, require_signature } =
    input;
  for (const [index, model] of (allowed_models ?? []).entries())
    if (!surroundings.isModel(model)) throw invalid(['allowed_models', index], 'is not a model: GET /v1/models lists them');
  if (signing_public_key) requirePublicKey(signing_public_key);
  return {
    ...(name !== undefined && { name }),
    ...(project_id !== undefined && { projectId: project_id }),
    ...(scopes && { scopes: [...new Set(scopes)] }),
    ...(expires_at !== undefined && { expiresAt: expiryOf(expires_at, surroundings.now) }),
    ...(allowed_models !== undefined && { allowedModels: allowed_models && [...new Set(allowed_models)] }),
    ...(allowed_endpoints !== undefined && { allowedEndpoints: allowed_endpoints && [...new Set(allowed_endpoints)] }),
    ...ratesFrom(input.rate_limits, surroundings),
    ...(metadata && { metadata: { ...metadata } }),
    ...(signing_public_key !== undefined && { signingPublicKey: signing_public_key }),
    ...(require_signature !== undefined && { requireSignature: require_signature }),
  };
}

/** A requirement that no signature could meet would only look like one. */
export function requireConsistent({ requireSignature, signingPublicKey }: Pick<ApiKey, 'requireSignature' | 'signingPublicKey'>): void {
  if (requireSignature && !signingPublicKey) throw invalid(['require_signature'], 'needs a signing_public_key to verify signatures with');
}

/** The plan's limits hold for all keys together, so a wider one of a key would promise what it never gets. */
function ratesFrom(given: UpdateKeyRequest['rate_limits'], { plan, livemode, testRates }: Surroundings): KeySettings {
  const { requests_per_minute, tokens_per_minute, concurrency } = given ?? {};
  const most = livemode ? plan.rates : testRates;
  const within = (field: string, value: number | null | undefined, limit: number | null) => {
    if (value && limit !== null && value > limit)
      throw invalid(['rate_limits', field], `must be at most ${limit}, the limit of the plan "${plan.id}"`);
  };
  within('requests_per_minute', requests_per_minute, most.requestsPerMinute);
  within('tokens_per_minute', tokens_per_minute, most.tokensPerMinute);
  within('concurrency', concurrency, most.concurrency);
  return {
    ...(requests_per_minute !== undefined && { requestsPerMinute: requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokensPerMinute: tokens_per_minute }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

function requirePublicKey(text: string): void {
  const bytes = fromBase64url(text, 32);
  // Of a point of small order, everybody can make signatures.
  if (!bytes || !isPublicKey(bytes)) throw invalid(['signing_public_key'], 'is not an Ed25519 public key that only its owner can sign for');
}

function expiryOf(expiresAt: string | null, now: Date): Date | null {
  if (expiresAt === null) return null;
  const at = new Date(expiresAt);
  if (at > now) return at;
  throw invalid(['expires_at'], 'must be a time in the future');
}

const invalid = (path: (string | number)[], msg: string): Problem => invalidInput([{ loc: ['body', ...path], msg, type: 'invalid' }]);
