import { defineEntity, p } from '@mikro-orm/core';

export const AuditLogEntry = defineEntity({
  name: 'AuditLogEntry',
  tableName: 'audit_log',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().nullable(),
    actorKind: p.enum(['user', 'key', 'management_key', 'internal', 'system']),
    actorId: p.text().nullable(),
    action: p.text(),
    targetKind: p.text(),
    targetId: p.text(),
    changes: p.json<Record<string, unknown>>(),
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    requestId: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
