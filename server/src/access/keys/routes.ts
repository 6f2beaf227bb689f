import type { contract, KeyCreatedResponse, KeyResponse } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { type Clock, rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import type { ApiKey } from './api-key.ts';
import { keyPrefix, kindOf } from './key-secret.ts';
import type { Keys, PlainKey } from './keys.ts';

export function keyRoutes({ keys, clock }: { keys: Keys; clock: Clock }): Handlers<typeof contract.keys> {
  const wire = (key: ApiKey): KeyResponse => toWire(key, new Date(clock.now()));
  const created = ({ key, plainKey }: PlainKey): KeyCreatedResponse => ({ ...wire(key), key: plainKey });
  return {
    create: async ({ principal, body, ...call }) => ({ status: 201, body: created(await keys.create(principal, body, originOf(call))) }),
    list: async ({ principal }) => ({ status: 200, body: (await keys.list(principal)).map(wire) }),
    get: async ({ principal, params }) => ({ status: 200, body: wire(await keys.get(principal, params.key_id)) }),
    update: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: wire(await keys.update(principal, params.key_id, body, originOf(call))),
    }),
    revoke: async ({ principal, params, ...call }) => {
      await keys.revoke(principal, params.key_id, originOf(call));
      return { status: 204, body: undefined };
    },
    rotate: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: created(await keys.rotate(principal, params.key_id, body?.grace_seconds ?? 0, originOf(call))),
    }),
  };
}

const timeOrNull = (at: Date | null | undefined): string | null => (at ? rfc3339(at) : null);

const toWire = (key: ApiKey, now: Date): KeyResponse => ({
  key_id: key.id,
  name: key.name,
  prefix: keyPrefix({ kind: kindOf(key), lookupId: key.lookupId }),
  livemode: key.livemode,
  scopes: key.scopes,
  external_id: key.externalId ?? null,
  project_id: key.projectId ?? null,
  status: key.status(now),
  monthly_cap_usd: key.monthlyCap == null ? null : formatUsd(key.monthlyCap),
  allowed_models: key.allowedModels ?? null,
  allowed_endpoints: key.allowedEndpoints ?? null,
  rate_limits: {
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    concurrency: key.concurrency ?? null,
  },
  metadata: key.metadata,
  signing_public_key: key.signingPublicKey ?? null,
  require_signature: key.requireSignature,
  created_at: rfc3339(key.createdAt),
  expires_at: timeOrNull(key.expiresAt),
  rotated_at: timeOrNull(key.rotatedAt),
  previous_secret_expires_at: timeOrNull(key.graceEndsAt(now)),
  revoked_at: timeOrNull(key.revokedAt),
  last_used_at: timeOrNull(key.lastUsedAt),
});
