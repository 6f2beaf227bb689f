import { defineEntity, p } from '@mikro-orm/core';
import type { ManagementScope } from '@tallygate/contract';

export const ManagementKeyEntity = defineEntity({
  name: 'ManagementKey',
  tableName: 'management_keys',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    userId: p.uuid(),
    lookupId: p.text().unique(),
    name: p.text(),
    scopes: p.array<ManagementScope>().columnType('text[]'),
    allowedAddresses: p.array<string>().columnType('text[]').nullable(),
    secretHash: p.blob().$type<Buffer>(),
    previousSecretHash: p.blob().$type<Buffer>().nullable(),
    previousExpiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime().nullable(),
    rotatedAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
  },
});
