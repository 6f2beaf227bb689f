import { defineEntity, p } from '@mikro-orm/core';
import type { InferenceEndpoint, Scope } from '@tallygate/contract';
import type { NanoUsd } from '../../kernel/money.ts';
import { secretHash } from './key-secret.ts';
import { graceEndsAt, type KeyStatus, statusOf } from './key-verification.ts';

export const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().fieldName('account_id'),
    userId: p.uuid().fieldName('user_id'),
    projectId: p.uuid().fieldName('project_id').nullable(),
    lookupId: p.text().fieldName('lookup_id'),
    externalId: p.text().fieldName('external_id').nullable(),
    name: p.text(),
    livemode: p.boolean(),
    scopes: p.array<Scope>().columnType('text[]'),
    secretHash: p.blob().fieldName('secret_hash').hidden(),
    previousSecretHash: p.blob().fieldName('previous_secret_hash').nullable().hidden(),
    previousExpiresAt: p.datetime().fieldName('previous_expires_at').nullable(),
    monthlyCap: p.bigint('bigint').fieldName('monthly_cap_nano_usd').nullable(),
    alertThresholds: p.array(Number).columnType('smallint[]').fieldName('alert_thresholds').defaultRaw("'{50,80,100}'"),
    allowedModels: p.array<string>().columnType('text[]').fieldName('allowed_models').nullable(),
    allowedEndpoints: p.array<InferenceEndpoint>().columnType('text[]').fieldName('allowed_endpoints').nullable(),
    requestsPerMinute: p.integer().fieldName('requests_per_minute').nullable(),
    tokensPerMinute: p.integer().fieldName('tokens_per_minute').nullable(),
    concurrency: p.integer().nullable(),
    metadata: p.json<Record<string, string>>().defaultRaw("'{}'"),
    signingPublicKey: p.text().fieldName('signing_public_key').nullable(),
    requireSignature: p.boolean().fieldName('require_signature').defaultRaw('false'),
    createdAt: p.datetime().fieldName('created_at'),
    expiresAt: p.datetime().fieldName('expires_at').nullable(),
    /** Members who know a secret that works, the latest first; null: the one whose key it is. */
    secretShownTo: p.array<string>().columnType('uuid[]').fieldName('secret_shown_to').nullable(),
    rotatedAt: p.datetime().fieldName('rotated_at').nullable(),
    revokedAt: p.datetime().fieldName('revoked_at').nullable(),
    lastUsedAt: p.datetime().fieldName('last_used_at').nullable(),
  },
});

/** Percent of the monthly cap at which the owner is told, unless they choose others. */
export const DEFAULT_ALERT_THRESHOLDS: readonly number[] = [50, 80, 100];

/** An API key. Its secret is stored as a hash, so nothing here can show the plain key again. */
export class ApiKey extends ApiKeySchema.class {
  status(now: Date): KeyStatus {
    return statusOf(this, now);
  }

  isUsable(now: Date): boolean {
    return this.status(now) === 'active';
  }

  /** Keeps the first time, so that a repeat cannot move the moment from which usage of the key is disputed. */
  revoke(now: Date): void {
    this.revokedAt ??= now;
  }

  /**
   * Puts `secret` in place of the present one, which goes on working for `graceSeconds`. Only one earlier secret ever works:
   * a rotation during the grace of the one before ends that one, so a leaked secret cannot be kept alive by rotating again.
   */
  rotate(secret: string, { now, graceSeconds, shownTo }: Rotation): void {
    const [before = this.userId] = this.secretShownTo ?? [];
    this.secretShownTo = graceSeconds > 0 ? [shownTo, before] : [shownTo];
    this.previousSecretHash = graceSeconds > 0 ? this.secretHash : null;
    this.previousExpiresAt = graceSeconds > 0 ? new Date(now.getTime() + graceSeconds * 1000) : null;
    this.secretHash = secretHash(secret);
    this.rotatedAt = now;
  }

  /** Takes over the settings that are given; the others stay as they are. */
  configure(settings: KeySettings): void {
    Object.assign(this, settings);
  }

  /** @param alertThresholds ascending, each once */
  setBudget(monthlyCap: NanoUsd | null, alertThresholds: readonly number[]): void {
    this.monthlyCap = monthlyCap;
    this.alertThresholds = [...alertThresholds];
  }

  /** When the secret before the last rotation dies; `undefined` when none is left. */
  graceEndsAt(now: Date): Date | undefined {
    return graceEndsAt(this, now);
  }
}
ApiKeySchema.setClass(ApiKey);

interface Rotation {
  readonly now: Date;
  readonly graceSeconds: number;
  /** The member who gets the plain key. */
  readonly shownTo: string;
}

/** The settings of a key that its owner may change at any time; the cap is not among them. */
export const SETTINGS = [
  'name',
  'projectId',
  'scopes',
  'expiresAt',
  'allowedModels',
  'allowedEndpoints',
  'requestsPerMinute',
  'tokensPerMinute',
  'concurrency',
  'metadata',
  'signingPublicKey',
  'requireSignature',
] as const;
export type KeySettings = Partial<Pick<ApiKey, (typeof SETTINGS)[number]>>;
