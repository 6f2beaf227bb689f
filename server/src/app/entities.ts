import { defineEntity, p } from '@mikro-orm/core';

export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    scope: p.text().primary(),
    keyHash: p.blob().$type<Buffer>().primary(),
    requestHash: p.blob().$type<Buffer>(),
    runId: p.uuid(),
    state: p.enum(['running', 'done']),
    leaseExpiresAt: p.datetime(),
    answer: p.blob().$type<Buffer>().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export const SchemaMigration = defineEntity({
  name: 'SchemaMigration',
  tableName: 'schema_migrations',
  properties: {
    name: p.text().primary(),
    checksum: p.text(),
    appliedAt: p.datetime().defaultRaw('now()'),
  },
});
