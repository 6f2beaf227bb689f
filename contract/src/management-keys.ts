import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersB, idempotencyHeader, isPlainText, NOT_PLAIN, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { RotateKeyRequest } from './keys.ts';
import { MANAGEMENT_SCOPES, ManagementScope } from './scopes.ts';

const c = initContract();

const Scopes = z
  .array(ManagementScope)
  .min(1)
  .max(MANAGEMENT_SCOPES.length)
  .meta({ description: 'What the key may do.', examples: [['projects:write', 'keys:write']] });
const Address = z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]);
const AddressRange = z
  .string()
  .refine((text) => Address.safeParse(text).success, 'must be an IP address, or a range such as 203.0.113.0/24')
  .meta({ description: 'An IP address, or a range in CIDR notation.', examples: ['203.0.113.0/24'] });

export const CreateManagementKeyRequest = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .refine(isPlainText, NOT_PLAIN)
      .meta({ description: 'For people.', examples: ['terraform'] }),
    scopes: Scopes,
    allowed_addresses: z
      .array(AddressRange)
      .min(1)
      .max(50)
      .nullable()
      .default(null)
      .meta({ description: 'The only addresses that the key works from. Null: all.', examples: [['203.0.113.0/24']] }),
    expires_at: Timestamp.optional().meta({ description: 'When the key stops working by itself.' }),
  })
  .meta({
    id: 'CreateManagementKeyRequest',
    description: 'A new management key.',
    examples: [{ name: 'terraform', scopes: ['projects:write', 'keys:write'], allowed_addresses: ['203.0.113.0/24'] }],
  });
export type CreateManagementKeyRequest = z.infer<typeof CreateManagementKeyRequest>;

const EXAMPLE = {
  management_key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  name: 'terraform',
  prefix: 'tg_mgmt_4f0Zk1x8QbRm',
  scopes: ['projects:write', 'keys:write'],
  allowed_addresses: ['203.0.113.0/24'],
  status: 'active',
  created_by: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  created_at: '2026-11-21T08:00:00.000Z',
  expires_at: null,
  rotated_at: null,
  previous_secret_expires_at: null,
  revoked_at: null,
  last_used_at: '2026-11-21T09:30:00.000Z',
};

export const ManagementKey = z
  .object({
    management_key_id: Uuid,
    name: z.string().meta({ examples: ['terraform'] }),
    prefix: z.string().meta({ description: 'The part of the key that is no secret.', examples: ['tg_mgmt_4f0Zk1x8QbRm'] }),
    scopes: z.array(ManagementScope),
    allowed_addresses: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only addresses that the key works from. Null: all.', examples: [['203.0.113.0/24']] }),
    status: z.enum(['active', 'expired', 'revoked']),
    created_by: Uuid.meta({ description: 'The member who made it. It is revoked when they leave the account.' }),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    rotated_at: Timestamp.nullable().meta({ description: 'When the secret was last replaced.' }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until when the secret before the last rotation still works; null when it does not.',
    }),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ManagementKey', description: 'A management key without its secret.', examples: [EXAMPLE] });
export type ManagementKey = z.infer<typeof ManagementKey>;

export const ManagementKeyCreated = ManagementKey.extend({
  key: z.string().meta({ description: 'The plain key. It is shown in this answer only.', examples: ['tg_mgmt_4f0Zk1x8QbRm…'] }),
}).meta({
  id: 'ManagementKeyCreated',
  description: 'A management key with its secret, shown exactly once.',
  examples: [{ ...EXAMPLE, last_used_at: null, key: 'tg_mgmt_4f0Zk1x8QbRm…' }],
});
export type ManagementKeyCreated = z.infer<typeof ManagementKeyCreated>;

export const ManagementKeyList = page(ManagementKey).meta({ id: 'ManagementKeyList', description: 'Management keys, the newest first.' });
export type ManagementKeyList = z.infer<typeof ManagementKeyList>;

const KeyPath = z.object({ management_key_id: Uuid.meta({ description: 'The management key’s id.' }) });
/** A machine makes itself no further credentials of its kind. */
const bySession = { auth: 'bearer', session: true, accountRole: 'admin', tag: 'Management keys' } as const;

export const managementKeys = c.router({
  create: {
    method: 'POST',
    path: '/v1/management-keys',
    summary: 'Create a management key',
    description:
      'For programs that administer the account, such as Terraform. It runs no model. The plain key is in the answer and nowhere else.',
    headers: { ...headersB, ...idempotencyHeader },
    body: CreateManagementKeyRequest,
    responses: { 201: ManagementKeyCreated, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'createManagementKey', sdk: 'managementKeys.create' } as const,
  },
  list: {
    method: 'GET',
    path: '/v1/management-keys',
    summary: 'List management keys',
    description: 'Every management key of the account, revoked ones included, the newest first.',
    headers: headersB,
    query: z.object(pageQuery),
    responses: { 200: ManagementKeyList, ...refusals.read },
    metadata: { ...bySession, operationId: 'listManagementKeys', sdk: 'managementKeys.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/management-keys/:management_key_id',
    summary: 'Get a management key',
    description: 'One management key of the account, revoked or not.',
    headers: headersB,
    pathParams: KeyPath,
    responses: { 200: ManagementKey, 404: problem, ...refusals.read },
    metadata: { ...bySession, operationId: 'getManagementKey', sdk: 'managementKeys.get' } as const,
  },
  rotate: {
    method: 'POST',
    path: '/v1/management-keys/:management_key_id/rotate',
    summary: 'Replace the secret of a management key',
    description: 'Id, name and scopes stay. The old secret stops working at once, or after `grace_seconds`.',
    headers: { ...headersB, ...idempotencyHeader },
    pathParams: KeyPath,
    body: RotateKeyRequest.optional(),
    responses: { 200: ManagementKeyCreated, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...bySession, operationId: 'rotateManagementKey', sdk: 'managementKeys.rotate' } as const,
  },
  revoke: {
    method: 'DELETE',
    path: '/v1/management-keys/:management_key_id',
    summary: 'Revoke a management key',
    description: 'The key stops working at once. Revoking a revoked key changes nothing.',
    headers: { ...headersB, ...idempotencyHeader },
    pathParams: KeyPath,
    responses: { 204: c.noBody(), 404: problem, 409: problem, ...refusals.read },
    metadata: { ...bySession, operationId: 'revokeManagementKey', sdk: 'managementKeys.revoke' } as const,
  },
});
