import { createPublicKey } from 'node:crypto';
import type { ApiKey } from './api-key.ts';
import type { KeyGrant, KeyLimits } from './key-directory.ts';

type Narrowed = Pick<
  ApiKey,
  'allowedModels' | 'allowedEndpoints' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrency' | 'signingPublicKey' | 'requireSignature'
>;

/** What narrows the key, made ready for the hot path; nothing for a key that nothing narrows. */
export function limitsOf(key: Narrowed): Pick<KeyGrant, 'limits'> {
  const limits: KeyLimits = {
    models: key.allowedModels ? new Set(key.allowedModels) : null,
    endpoints: key.allowedEndpoints ? new Set(key.allowedEndpoints) : null,
    rates: ratesOf(key),
    signing: key.signingPublicKey
      ? { publicKey: key.signingPublicKey, verifier: verifierOf(key.signingPublicKey), isRequired: key.requireSignature }
      : null,
  };
  return Object.values(limits).some((limit) => limit !== null) ? { limits } : {};
}

function ratesOf({ requestsPerMinute, tokensPerMinute, concurrency }: Narrowed): KeyLimits['rates'] {
  const rates = {
    requestsPerMinute: requestsPerMinute ?? null,
    tokensPerMinute: tokensPerMinute ?? null,
    concurrency: concurrency ?? null,
  };
  return Object.values(rates).some((rate) => rate !== null) ? rates : null;
}

const verifierOf = (x: string) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
