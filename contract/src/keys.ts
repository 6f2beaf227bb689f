import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, headersB, idempotencyHeader, problem, refusals, Scope, Timestamp, Usd, UsdInput, Uuid } from './conventions.ts';

const c = initContract();

export const KeyPath = z.object({ key_id: Uuid.meta({ description: 'The key’s id.' }) });

export const CreateKeyRequest = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .meta({ description: 'For people.', examples: ['production'] }),
    livemode: z.boolean().default(true).meta({ description: '`false` makes a `tg_test_` key: sandbox provider only, never billed.' }),
    scopes: z
      .array(Scope)
      .min(1)
      .max(5)
      .default(['inference', 'account:read'])
      .meta({ description: 'What the key may do.', examples: [['inference']] }),
    expires_at: Timestamp.optional().meta({ description: 'When the key stops working by itself.' }),
    monthly_cap_usd: UsdInput.optional().meta({ description: 'Hard monthly cap, USD, UTC calendar month. None when left out.' }),
  })
  .meta({
    id: 'CreateKeyRequest',
    description: 'A new API key.',
    examples: [{ name: 'production', scopes: ['inference'], monthly_cap_usd: '25' }],
  });
export type CreateKeyRequest = z.infer<typeof CreateKeyRequest>;

const KEY_EXAMPLE = {
  key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  name: 'production',
  prefix: 'tg_live_4f0Zk1x8QbRm',
  livemode: true,
  scopes: ['inference'],
  status: 'active',
  monthly_cap_usd: '25',
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
    status: z.enum(['active', 'expired', 'revoked']),
    monthly_cap_usd: Usd.nullable(),
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
  key: z.string().meta({ description: 'The plain key. It is shown in this answer only.', examples: ['tg_live_4f0Zk1x8QbRm…'] }),
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
    description: 'Needs a session: an API key cannot make API keys. The plain key is in the answer and nowhere else.',
    headers: { ...headersB, ...idempotencyHeader },
    body: CreateKeyRequest,
    responses: { 201: KeyCreatedResponse, ...refusals.write },
    metadata: { auth: 'bearer', session: true, tag: 'Keys', operationId: 'createKey' } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/keys',
    summary: 'List API keys',
    description: 'Every key of the account, revoked ones included, newest first.',
    headers: headersA,
    responses: { 200: z.array(KeyResponse), ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Keys', operationId: 'listKeys' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/keys/:key_id',
    summary: 'Get an API key',
    description: 'One key of the account, revoked or not. The secret is never shown again.',
    headers: headersA,
    pathParams: KeyPath,
    responses: { 200: KeyResponse, 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Keys', operationId: 'getKey' } as const,
  },
  revoke: {
    method: 'DELETE',
    path: '/v1/keys/:key_id',
    summary: 'Revoke an API key',
    description: 'The key stops working on every instance within a second. Revoking a revoked key changes nothing.',
    headers: headersA,
    pathParams: KeyPath,
    responses: { 204: c.noBody(), 404: problem, ...refusals.read },
    metadata: { auth: 'bearer', scope: 'keys:write', tag: 'Keys', operationId: 'revokeKey' } as const,
  },
  rotate: {
    method: 'POST',
    path: '/v1/keys/:key_id/rotate',
    summary: 'Replace the secret of an API key',
    description: 'Id, name, cap and history stay. The old secret dies at once, or after `grace_seconds`.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: KeyPath,
    body: RotateKeyRequest.optional(),
    responses: { 200: KeyCreatedResponse, 404: problem, ...refusals.write },
    metadata: { auth: 'bearer', scope: 'keys:write', tag: 'Keys', operationId: 'rotateKey' } as const,
  },
});
