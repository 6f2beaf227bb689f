import { defineEntity, p } from '@mikro-orm/core';
import type { MarketingEmailAudience } from '@tallygate/contract';

export const EmailRecipient = defineEntity({
  name: 'EmailRecipient',
  tableName: 'email_recipients',
  properties: {
    recipientId: p.uuid().primary(),
    emailId: p.uuid(),
    personId: p.uuid().nullable(),
    address: p.text().nullable(),
    addressHash: p.blob().$type<Buffer>(),
    name: p.text().nullable(),
    company: p.text().nullable(),
    state: p
      .enum(['queued', 'handing_over', 'sent', 'unconfirmed', 'bounced', 'rejected', 'failed', 'suppressed', 'canceled'])
      .defaultRaw("'queued'"),
    attempts: p.integer().defaultRaw('0'),
    dueAt: p.datetime(),
    digest: p.blob().$type<Buffer>().nullable(),
    lastError: p.text().nullable(),
    at: p.datetime(),
  },
});

export const EmailSecret = defineEntity({
  name: 'EmailSecret',
  tableName: 'email_secret',
  properties: {
    isOnly: p.boolean().defaultRaw('true').primary(),
    secret: p.text(),
  },
});

export const EmailTemplate = defineEntity({
  name: 'EmailTemplate',
  tableName: 'email_templates',
  properties: {
    templateId: p.uuid().primary(),
    name: p.text(),
    subject: p.text(),
    textBody: p.text(),
    htmlBody: p.text().nullable(),
    variables: p.json<Readonly<Record<string, string>>>(),
    version: p.integer().defaultRaw('1'),
    archivedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

export const Email = defineEntity({
  name: 'Email',
  tableName: 'emails',
  properties: {
    emailId: p.uuid().primary(),
    accountId: p.uuid(),
    actorKind: p.text(),
    actorId: p.text().nullable(),
    subject: p.text(),
    textBody: p.text(),
    htmlBody: p.text().nullable(),
    variables: p.json<Readonly<Record<string, string>>>(),
    audience: p.json<MarketingEmailAudience | { readonly test: string }>(),
    isTest: p.boolean(),
    state: p.enum(['scheduled', 'preparing', 'sending', 'sent', 'canceled']),
    dueAt: p.datetime(),
    createdAt: p.datetime(),
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    templateId: p.uuid().nullable(),
    replyTo: p.text().nullable(),
  },
});
