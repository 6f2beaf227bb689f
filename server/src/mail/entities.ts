import { defineEntity, p } from '@mikro-orm/core';

export const MailHandover = defineEntity({
  name: 'MailHandover',
  tableName: 'mail_handovers',
  properties: {
    mailId: p.uuid().primary(),
    at: p.datetime().defaultRaw('clock_timestamp()'),
  },
});

export const Mail = defineEntity({
  name: 'Mail',
  tableName: 'mails',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().nullable(),
    recipient: p.text(),
    template: p.text(),
    data: p.json<unknown>(),
    dedupeKey: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    dueAt: p.datetime().defaultRaw('now()'),
    sentAt: p.datetime().nullable(),
    failedAt: p.datetime().nullable(),
    attempts: p.integer().defaultRaw('0'),
    lastError: p.text().nullable(),
    isSentOnce: p.boolean().defaultRaw('false'),
    isUnconfirmed: p.boolean().defaultRaw('false'),
    isRecipientRefused: p.boolean().defaultRaw('false'),
    isSuppressed: p.boolean().defaultRaw('false'),
  },
});
