import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, headersB, isPlainText, NOT_PLAIN, page, pageQuery, refusals, TimeBound, Timestamp, Uuid } from './conventions.ts';

const c = initContract();

export const AuditLogEntry = z
  .object({
    entry_id: Uuid,
    account_id: Uuid.nullable().meta({ description: 'Whose log it belongs to; null for what concerns no account.' }),
    actor: z.object({
      kind: z
        .enum(['user', 'key', 'management_key', 'internal', 'system'])
        .meta({ description: 'Who did it; `internal` is the web front end.' }),
      id: z
        .string()
        .nullable()
        .meta({
          description: 'The id of the user, of the API key or of the management key.',
          examples: ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'],
        }),
    }),
    action: z.string().meta({ description: 'What was done: noun and verb.', examples: ['key.created'] }),
    target: z.object({
      kind: z.string().meta({ examples: ['key'] }),
      id: z.string().meta({ examples: ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'] }),
    }),
    changes: z.record(z.string(), z.unknown().meta({ description: 'Any JSON.' })).meta({
      description: 'What changed, without secrets; e-mail addresses are shortened.',
      examples: [{ monthly_cap_usd: { from: null, to: '25' } }],
    }),
    ip: z
      .string()
      .nullable()
      .meta({
        description: 'Where the change came from. Null in answers to API keys, and where no request was behind it.',
        examples: ['203.0.113.7'],
      }),
    user_agent: z
      .string()
      .nullable()
      .meta({ examples: ['tallygate-cli/0.1.0'] }),
    request_id: z
      .string()
      .nullable()
      .meta({ examples: ['req_019aa2f1c2d37b6e8c4d1f00aa55ee77'] }),
    created_at: Timestamp,
  })
  .meta({ id: 'AuditLogEntry', description: 'One change, by whom and from where. Entries are never changed and never deleted.' });
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const AuditLogResponse = page(AuditLogEntry).meta({
  id: 'AuditLogResponse',
  description: 'Entries of the audit log, newest first.',
});
export type AuditLogResponse = z.infer<typeof AuditLogResponse>;

const AuditLogQuery = z.object({
  action: z
    .string()
    .max(80)
    .regex(/^[a-z_]+(?:\.[a-z_]+)?$/, 'must be an action such as key.created, or its noun alone')
    .optional()
    .meta({ description: 'Only this action, or all of this noun.', examples: ['key.created'] }),
  actor_id: Uuid.optional().meta({ description: 'Only what this user, API key or management key did.' }),
  target_id: z
    .string()
    .min(1)
    .max(200)
    .refine(isPlainText, NOT_PLAIN)
    .optional()
    .meta({ description: 'Only changes of what has this id.', examples: ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77'] }),
  ip: z
    .union([z.ipv4(), z.ipv6()])
    .optional()
    .meta({
      description: 'Only what came from this IP address. API keys are refused, since they are not told addresses.',
      examples: ['203.0.113.7'],
    }),
  from: TimeBound.optional().meta({ description: 'Not before this time.' }),
  to: TimeBound.optional().meta({ description: 'Before this time.' }),
  ...pageQuery,
});
export type AuditLogQuery = z.infer<typeof AuditLogQuery>;

export const audit = c.router({
  list: {
    method: 'GET',
    path: '/v1/audit-log',
    summary: 'Who changed what in the account',
    description:
      'Every change to the caller’s own account and its keys, newest first. An API key is not told the IP addresses; a session is.',
    headers: headersA,
    query: AuditLogQuery,
    responses: { 200: AuditLogResponse, ...refusals.read },
    metadata: {
      auth: 'bearer',
      scope: 'audit:read',
      tag: 'Audit',
      operationId: 'listAuditLog',
      sdk: 'auditLog.list',
      errors: { also: ['session_required'] },
    } as const,
  },
  listAll: {
    method: 'GET',
    path: '/v1/admin/audit-log',
    summary: 'Who changed what, in all accounts',
    description: 'For administrators, logged in: of every account, or of the one that `account_id` names.',
    headers: headersB,
    query: AuditLogQuery.extend({ account_id: Uuid.optional().meta({ description: 'Only this account.' }) }),
    responses: { 200: AuditLogResponse, ...refusals.read },
    metadata: {
      auth: 'bearer',
      session: true,
      manage: 'admin:read',
      role: 'admin',
      tag: 'Audit',
      operationId: 'listAllAuditLog',
      sdk: 'auditLog.listAll',
    } as const,
  },
});
