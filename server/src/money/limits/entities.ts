import { defineEntity, p } from '@mikro-orm/core';

export const SpendingLimit = defineEntity({
  name: 'SpendingLimit',
  tableName: 'limits',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    kind: p.enum(['account', 'project', 'member', 'key', 'run', 'end_user', 'tag', 'model']),
    subject: p.text().nullable(),
    period: p.enum(['hour', 'day', 'week', 'month', 'lifetime']),
    externalId: p.text().nullable(),
    capNano: p.bigint('bigint').nullable(),
    requestsPerMinute: p.integer().nullable(),
    tokensPerMinute: p.integer().nullable(),
    alertThresholds: p.array(Number).columnType('smallint[]').defaultRaw("'{50,80,100}'"),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
