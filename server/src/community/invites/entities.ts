import { defineEntity, p } from '@mikro-orm/core';
import type { PeopleFilter } from '@tallygate/contract';

export const InviteActivation = defineEntity({
  name: 'InviteActivation',
  tableName: 'invite_activations',
  properties: {
    activationId: p.uuid().primary(),
    inviteId: p.uuid(),
    email: p.text(),
    name: p.text().nullable(),
    activatedAt: p.datetime(),
    accountId: p.uuid().nullable(),
    grantedAt: p.datetime().nullable(),
    erasedAt: p.datetime().nullable(),
  },
});

export const InviteBatch = defineEntity({
  name: 'InviteBatch',
  tableName: 'invite_batches',
  properties: {
    batchId: p.uuid().primary(),
    name: p.text(),
    planId: p.text().nullable(),
    trialDays: p.integer().nullable(),
    creditNano: p.bigint('bigint'),
    sharedUses: p.integer().nullable(),
    subject: p.text().nullable(),
    message: p.text().nullable(),
    expiresAt: p.datetime(),
    createdBy: p.uuid(),
    createdAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
    filter: p.json<PeopleFilter>().nullable(),
    lookedUpAt: p.datetime().nullable(),
  },
});

export const Invite = defineEntity({
  name: 'Invite',
  tableName: 'invites',
  properties: {
    inviteId: p.uuid().primary(),
    batchId: p.uuid(),
    email: p.text().nullable(),
    name: p.text().nullable(),
    codeHash: p.blob().$type<Buffer>().nullable(),
    status: p.enum(['pending', 'queued', 'sent', 'unconfirmed', 'failed', 'suppressed', 'shared']),
    maxUses: p.integer(),
    uses: p.integer().defaultRaw('0'),
    failure: p.text().nullable(),
    sentAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    erasedAt: p.datetime().nullable(),
  },
});
