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

export const ProjectMemberEntity = defineEntity({
  name: 'ProjectMember',
  tableName: 'project_members',
  properties: {
    projectId: p.uuid().primary(),
    userId: p.uuid().primary(),
    role: p.enum(['admin', 'member']),
    addedAt: p.datetime(),
    /** What of the directory made them a member; null where people did. */
    directory: p.enum(['groups', 'sign_in']).nullable(),
  },
});
