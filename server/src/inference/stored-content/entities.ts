import { defineEntity, p } from '@mikro-orm/core';

export const ContentKey = defineEntity({
  name: 'ContentKey',
  tableName: 'content_keys',
  properties: {
    accountId: p.uuid().primary(),
    sealedKey: p.text(),
  },
});
