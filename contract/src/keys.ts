import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  ExternalId,
  ExternalIdOrNull,
  headersA,
  headersB,
  idempotencyHeader,
  isPlainText,
  NOT_PLAIN,
  problem,
  refusals,
  Timestamp,
  Usd,
  UsdInput,
  Uuid,
} from './conventions.ts';
import { DEFAULT_SCOPES, SCOPES, Scope } from './scopes.ts';

const c = initContract();

export const KeyPath = z.object({ key_id: Uuid.meta({ description: 'The key’s id.' }) });

export const INFERENCE_ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/models:generateContent',
  '/v1beta/models:embedContent',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/realtime',
  '/v1/videos',
  '/v1/batches',
] as const;
export const InferenceEndpoint = z
  .enum(INFERENCE_ENDPOINTS)
  .meta({ id: 'InferenceEndpoint', description: 'An endpoint that spends, with everything below it.' });
export type InferenceEndpoint = z.infer<typeof InferenceEndpoint>;

const rate = (max: number, description: string, example: number) =>
  z
    .int()
    .min(1)
    .max(max)
    .nullable()
    .meta({ description: `${description} Null: the plan’s.`, examples: [example] });
const rates = {
  requests_per_minute: rate(1_000_000, 'Requests in a minute.', 60),
  tokens_per_minute: rate(2_000_000_000, 'Tokens in a minute, in and out.', 100_000),
  concurrency: rate(100_000, 'Requests that run at the same time.', 5),
};

export const KeyRateLimits = z
  .object(rates)
  .meta({ id: 'KeyRateLimits', description: 'The key’s own rate limits. The plan’s hold for all keys of the account together.' });
export type KeyRateLimits = z.infer<typeof KeyRateLimits>;

export const KeyRateLimitsInput = z
  .strictObject({
    requests_per_minute: rates.requests_per_minute.optional(),
    tokens_per_minute: rates.tokens_per_minute.optional(),
    concurrency: rates.concurrency.optional(),
  })
  .meta({ id: 'KeyRateLimitsInput', description: 'Rate limits to set, each at most the plan’s. What is left out stays as it is.' });

const Name = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'For people.', examples: ['production'] });
const Scopes = z
  .array(Scope)
  .min(1)
  .max(SCOPES.length)
  .meta({ description: 'What the key may do.', examples: [['inference']] });
const AllowedModels = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(100)
  .nullable()
  .meta({ description: 'The only models that the key may use, fallbacks included. Null: all.', examples: [['gpt-4o-mini']] });
const AllowedEndpoints = z
  .array(InferenceEndpoint)
  .min(1)
  .max(INFERENCE_ENDPOINTS.length)
  .nullable()
  .meta({ description: 'The only endpoints that the key may spend on. Null: all.', examples: [['/v1/chat/completions']] });
const Metadata = z
  .record(z.string().min(1).max(64).refine(isPlainText, NOT_PLAIN), z.string().max(512).refine(isPlainText, NOT_PLAIN))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'must have at most 16 pairs')
  .meta({ description: 'Your own notes: at most 16 pairs.', examples: [{ team: 'search' }], maxProperties: 16 });
const SigningPublicKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the 32 bytes of an Ed25519 public key in base64url, without padding')
  .nullable()
  .meta({
    description: 'Ed25519 public key, base64url of 32 bytes (the `x` of a JWK). Signatures of requests (RFC 9421) are verified with it.',
    examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
  });
const RequireSignature = z.boolean().meta({ description: 'Inference requests without a valid signature are refused.' });

export const CreateKeyRequest = z
  .strictObject({
    name: Name,
    livemode: z.boolean().default(true).meta({ description: '`false` makes a `tg_test_` key: sandbox provider only, never billed.' }),
    scopes: Scopes.default([...DEFAULT_SCOPES]),
    external_id: ExternalId.optional(),
    project_id: Uuid.optional().meta({ description: 'The project that it belongs to; a person’s own when left out.' }),
    expires_at: Timestamp.optional().meta({ description: 'When the key stops working by itself.' }),
    monthly_cap_usd: UsdInput.optional().meta({ description: 'Hard monthly cap, USD, UTC calendar month. None when left out.' }),
    allowed_models: AllowedModels.optional(),
    allowed_endpoints: AllowedEndpoints.optional(),
    rate_limits: KeyRateLimitsInput.optional(),
    metadata: Metadata.optional(),
    signing_public_key: SigningPublicKey.optional(),
    require_signature: RequireSignature.optional(),
  })
  .meta({
    id: 'CreateKeyRequest',
    description: 'A new API key.',
    examples: [{ name: 'production', scopes: ['inference'], monthly_cap_usd: '25' }],
  });
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>;

export const UpdateKeyRequest = z
  .strictObject({
    name: Name.optional(),
    scopes: Scopes.optional(),
    project_id: Uuid.nullable().optional().meta({ description: 'The project that it belongs to; null for none. Needs a session.' }),
    expires_at: Timestamp.nullable().optional().meta({ description: 'When the key stops working by itself; null for never.' }),
    allowed_models: AllowedModels.optional(),
    allowed_endpoints: AllowedEndpoints.optional(),
    rate_limits: KeyRateLimitsInput.optional(),
    metadata: Metadata.optional(),
    signing_public_key: SigningPublicKey.optional(),
    require_signature: RequireSignature.optional(),
  })
  .meta({
    id: 'UpdateKeyRequest',
    description: 'What to change. A field that is left out stays as it is; lists and `metadata` are replaced whole.',
    examples: [{ allowed_models: ['gpt-4o-mini'], rate_limits: { requests_per_minute: 60 } }],
  });
export type UpdateKeyRequest = z.infer<typeof UpdateKeyRequest>;

const KEY_EXAMPLE = {
  key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  name: 'production',
  prefix: 'tg_live_4f0Zk1x8QbRm',
  livemode: true,
  scopes: ['inference'],
  external_id: null,
  project_id: null,
  status: 'active',
  monthly_cap_usd: '25',
  allowed_models: ['gpt-4o-mini'],
  allowed_endpoints: null,
  rate_limits: { requests_per_minute: 60, tokens_per_minute: null, concurrency: null },
  metadata: { team: 'search' },
  signing_public_key: null,
  require_signature: false,
  created_at: '2026-11-21T08:00:00.000Z',
  expires_at: null,
  rotated_at: null,
  previous_secret_expires_at: null,
  revoked_at: null,
  last_used_at: '2026-11-21T09:30:00.000Z',
};

export const KeyResponse = z
  .object({
    key_id: Uuid,
    name: z.string().meta({ examples: ['production'] }),
    prefix: z.string().meta({
      description: 'The part of the key that is no secret: it finds the key, it does not open anything.',
      examples: ['tg_live_4f0Zk1x8QbRm'],
    }),
    livemode: z.boolean(),
    scopes: z.array(Scope),
    external_id: ExternalIdOrNull,
    project_id: Uuid.nullable().meta({ description: 'The project that it belongs to; null for none.', examples: [null] }),
    status: z.enum(['active', 'expired', 'revoked']),
    monthly_cap_usd: Usd.nullable(),
    allowed_models: z.array(z.string()).nullable().meta({ description: 'The only models that the key may use. Null: all.' }),
    allowed_endpoints: z
      .array(InferenceEndpoint)
      .nullable()
      .meta({ description: 'The only endpoints that the key may spend on. Null: all.' }),
    rate_limits: KeyRateLimits,
    metadata: z.record(z.string(), z.string()).meta({ description: 'Your own notes.', examples: [{ team: 'search' }] }),
    signing_public_key: SigningPublicKey,
    require_signature: RequireSignature,
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    rotated_at: Timestamp.nullable().meta({ description: 'When the secret was last replaced.' }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until when the secret before the last rotation still works; null when it does not.',
    }),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'KeyResponse', description: 'An API key without its secret.', examples: [KEY_EXAMPLE] });
export type KeyResponse = z.infer<typeof KeyResponse>;

export const KeyCreatedResponse = KeyResponse.extend({
  key: z.string().meta({
    description: 'The plain key. It is shown in this answer only; empty where the key was there already, by its `external_id`.',
    examples: ['tg_live_4f0Zk1x8QbRm…'],
  }),
}).meta({
  id: 'KeyCreatedResponse',
  description: 'An API key with its secret, shown exactly once.',
  examples: [{ ...KEY_EXAMPLE, last_used_at: null, key: 'tg_live_4f0Zk1x8QbRm…' }],
});
export type KeyCreatedResponse = z.infer<typeof KeyCreatedResponse>;

export const RotateKeyRequest = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(0)
      .meta({ description: 'How long the old secret keeps working, seconds; 0 ends it at once.' }),
  })
  .meta({ id: 'RotateKeyRequest', description: 'How to replace the secret.' });
export type RotateKeyRequest = z.infer<typeof RotateKeyRequest>;

export const keys = c.router({
  create: {
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create an API key',
    description:
      'Needs a session or a management key: an API key cannot make API keys. The plain key is in the answer and nowhere else. With an `external_id` that a key has which is not revoked, the answer is that key without its secret; other settings are 409.',
    headers: { ...headersB, ...idempotencyHeader },
    body: CreateKeyRequest,
    responses: { 201: KeyCreatedResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: {
      auth: 'bearer',
      session: true,
      manage: 'keys:write',
      accountRole: 'developer',
      tag: 'Keys',
      operationId: 'createKey',
      sdk: 'keys.create',
      errors: { also: ['forbidden'] },
    } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/keys',
    summary: 'List API keys',
    description: 'Revoked ones included, newest first.',
    headers: headersA,
    responses: { 200: z.array(KeyResponse), ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Keys', operationId: 'listKeys', sdk: 'keys.list', tool: 'read' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/keys/:key_id',
    summary: 'Get an API key',
    description: 'One key of the account, revoked or not. The secret is never shown again.',
    headers: headersA,
    pathParams: KeyPath,
    responses: { 200: KeyResponse, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Keys', operationId: 'getKey', sdk: 'keys.get' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/keys/:key_id',
    summary: 'Change an API key',
    description:
      'In force here when this answers, and on every instance within a second. An API key can never give another key more than it has itself; the signing key and `require_signature` need a session.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: KeyPath,
    body: UpdateKeyRequest,
    responses: { 200: KeyResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'keys:write', tag: 'Keys', operationId: 'updateKey', sdk: 'keys.update' } as const,
  },
  revoke: {
    method: 'DELETE',
    path: '/v1/keys/:key_id',
    summary: 'Revoke an API key',
    description: 'The key stops working on every instance within a second. Revoking a revoked key changes nothing.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: KeyPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'keys:write', tag: 'Keys', operationId: 'revokeKey', sdk: 'keys.revoke' } as const,
  },
  rotate: {
    method: 'POST',
    path: '/v1/keys/:key_id/rotate',
    summary: 'Replace the secret of an API key',
    description:
      'Id, name, cap and history stay. The old secret dies at once, or after `grace_seconds`. An API key that has a monthly cap or rate limits rotates only itself.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: KeyPath,
    body: RotateKeyRequest.optional(),
    responses: { 200: KeyCreatedResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'keys:write', tag: 'Keys', operationId: 'rotateKey', sdk: 'keys.rotate' } as const,
  },
});
