import { defineEntity, p } from '@mikro-orm/core';

export const DirectoryUser = defineEntity({
  name: 'DirectoryUser',
  tableName: 'directory_users',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    userId: p.uuid().nullable(),
    externalId: p.text().nullable(),
    userName: p.text(),
    email: p.text().nullable(),
    displayName: p.text().nullable(),
    givenName: p.text().nullable(),
    familyName: p.text().nullable(),
    active: p.boolean(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

export const DirectoryGroup = defineEntity({
  name: 'DirectoryGroup',
  tableName: 'directory_groups',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    externalId: p.text().nullable(),
    displayName: p.text(),
    accountRole: p.enum(['admin', 'billing', 'developer', 'viewer']).nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

export const DirectoryGroupMember = defineEntity({
  name: 'DirectoryGroupMember',
  tableName: 'directory_group_members',
  properties: {
    groupId: p.uuid().primary(),
    directoryUserId: p.uuid().primary(),
  },
});

export const DirectoryGroupProject = defineEntity({
  name: 'DirectoryGroupProject',
  tableName: 'directory_group_projects',
  properties: {
    groupId: p.uuid().primary(),
    projectId: p.uuid().primary(),
    role: p.enum(['admin', 'member']),
  },
});
