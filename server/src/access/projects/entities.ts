import { defineEntity, p } from '@mikro-orm/core';

export const ProjectEntity = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    name: p.text(),
    externalId: p.text().nullable(),
    createdAt: p.datetime(),
    archivedAt: p.datetime().nullable(),
  },
});
