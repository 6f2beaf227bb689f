import { defineEntity, p } from '@mikro-orm/core';
import type { MarketingPersonRecord } from '@tallygate/contract';

export const DepartedUser = defineEntity({
  name: 'DepartedUser',
  tableName: 'departed_users',
  properties: {
    userId: p.uuid().primary(),
    emails: p.array<string>().columnType('text[]'),
    closedAt: p.datetime(),
  },
});

export const Person = defineEntity({
  name: 'Person',
  tableName: 'people',
  properties: {
    personId: p.uuid().primary(),
    n: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement(),
    email: p.text(),
    name: p.text().nullable(),
    company: p.text().nullable(),
    foldedName: p.text().defaultRaw("''"),
    foldedCompany: p.text().defaultRaw("''"),
    searchText: p.text().generated("((((email || ' '::text) || folded_name) || ' '::text) || folded_company) stored"),
    status: p.enum(['new', 'contacted', 'qualified', 'customer', 'lost']).defaultRaw("'new'"),
    sources: p.array<MarketingPersonRecord['sources'][number]>().columnType('text[]'),
    eventSlugs: p.array<string>().columnType('text[]').defaultRaw("'{}'"),
    tags: p.array<string>().columnType('text[]').defaultRaw("'{}'"),
    owner: p.uuid().nullable(),
    clientType: p.text().nullable(),
    planTier: p.text().nullable(),
    userId: p.uuid().nullable(),
    mergedIds: p.array<string>().columnType('uuid[]').defaultRaw("'{}'"),
    otherEmails: p.array<string>().columnType('text[]').defaultRaw("'{}'"),
    unsubscribedAt: p.datetime().nullable(),
    bouncedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    consentId: p.uuid().nullable(),
    consentSource: p.enum(['user', 'registration', 'client_request', 'import']).nullable(),
    consentEventSlug: p.text().nullable(),
    consentGivenAt: p.datetime().nullable(),
    consentEmail: p.text().nullable(),
    consentAskedAt: p.datetime().nullable(),
    consentConfirmedAt: p.datetime().nullable(),
  },
});

export const PeopleChunk = defineEntity({
  name: 'PeopleChunk',
  tableName: 'people_chunks',
  properties: {
    term: p.text().primary(),
    chunk: p.bigint('bigint').primary(),
    bits: p.string().columnType('bit(2048)'),
  },
});

export const PeopleSalt = defineEntity({
  name: 'PeopleSalt',
  tableName: 'people_salt',
  properties: {
    isOnly: p.boolean().defaultRaw('true').primary(),
    salt: p.text(),
  },
});

export const UnindexedPerson = defineEntity({
  name: 'UnindexedPerson',
  tableName: 'people_unindexed',
  properties: {
    id: p.bigint('bigint').columnType('bigint').generated('identity').autoincrement().primary(),
    n: p.bigint('bigint'),
  },
});

export const PersonHistoryEntry = defineEntity({
  name: 'PersonHistoryEntry',
  tableName: 'person_history',
  properties: {
    entryId: p.uuid().defaultRaw('gen_random_uuid()').primary(),
    personId: p.uuid(),
    action: p.text(),
    actorKind: p.enum(['user', 'key', 'management_key', 'internal', 'system']),
    actorId: p.text().nullable(),
    detail: p.json<Record<string, unknown>>().defaultRaw("'{}'"),
    at: p.datetime(),
  },
});

export const SuppressedAddress = defineEntity({
  name: 'SuppressedAddress',
  tableName: 'suppressed_addresses',
  properties: {
    addressHash: p.blob().$type<Buffer>().primary(),
    reason: p.enum(['unsubscribed', 'bounced', 'erased']),
    at: p.datetime(),
  },
});
