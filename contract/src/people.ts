import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import {
  headersA,
  idempotencyHeader,
  isPlainText,
  NOT_PLAIN,
  pageQuery,
  problem,
  prose,
  refusals,
  Timestamp,
  Uuid,
  wholeNumber,
} from './conventions.ts';
import { PeopleFilter, SOURCES, STAGES } from './people-filter.ts';

const c = initContract();

const PERSON_ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';

const Stage = z.enum(STAGES).meta({ id: 'PersonStage', description: 'Stage of the contact with a person.' });
const Source = z.enum(SOURCES).meta({ id: 'PersonSource', description: 'Source of a person.' });
export type PersonSource = z.infer<typeof Source>;

/** Lower case, so that a tag is one however it is typed. */
const TagText = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'must be up to 40 letters, digits, dashes and underscores')
  .meta({ examples: ['beta'] });
const plain = (max: number) => z.string().trim().min(1).max(max).refine(isPlainText, NOT_PLAIN);

export const MarketingPersonHistoryEntry = z
  .object({
    action: z.string().meta({ description: 'What was done, such as `tag`, `merge` or `seen`.', examples: ['tag'] }),
    actor: z.object({
      kind: z
        .enum(['user', 'key', 'management_key', 'internal', 'system'])
        .meta({ description: 'Who did it; `internal` is the web front end.' }),
      id: z
        .string()
        .nullable()
        .meta({ description: 'The id of the user or of the API key.', examples: [PERSON_ID] }),
    }),
    detail: z
      .record(z.string(), z.unknown().meta({ description: 'Any JSON.' }))
      .meta({ description: 'What changed.', examples: [{ tag: 'beta' }] }),
    at: Timestamp,
  })
  .meta({ id: 'MarketingPersonHistoryEntry', description: 'One entry in the history of a person.' });
export type MarketingPersonHistoryEntry = z.infer<typeof MarketingPersonHistoryEntry>;

const PERSON_EXAMPLE = {
  person_id: PERSON_ID,
  email: 'ada@example.com',
  other_emails: [],
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  status: 'new',
  subscription: 'subscribed',
  unsubscribed_at: null,
  bounced_at: null,
  consent: {
    source: 'registration',
    event_slug: 'vibethon',
    given_at: '2026-11-21T08:00:00.000Z',
    confirmed_at: '2026-11-21T08:03:00.000Z',
  },
  sources: ['registration'],
  event_slugs: ['vibethon'],
  tags: ['beta'],
  owner: null,
  client_type: 'startup',
  plan_tier: 'pro',
  user_id: null,
  created_at: '2026-11-21T08:00:00.000Z',
  updated_at: '2026-11-21T08:00:00.000Z',
};
const HISTORY_EXAMPLE = { action: 'tag', actor: { kind: 'user', id: PERSON_ID }, detail: { tag: 'beta' }, at: '2026-11-21T08:00:00.000Z' };

const time = (description: string) =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description, examples: ['2026-11-21T08:00:00.000Z'] });

const MarketingConsent = z
  .object({
    source: z.enum(['user', 'registration', 'client_request', 'import']).meta({
      description: 'Where it was given: at sign-up, at a registration, in a request to the team; or in a file that the team imported.',
    }),
    event_slug: z
      .string()
      .nullable()
      .meta({ description: 'The event of the registration in which it was given.', examples: ['vibethon'] }),
    given_at: Timestamp.meta({ description: 'When it was given.' }),
    confirmed_at: time(
      'When the owner of the address confirmed it by mail, or when it was imported. While this is null it has no effect: anybody can fill in the form.',
    ),
  })
  .meta({ id: 'MarketingConsent', description: 'Consent to news by mail. Unsubscribing withdraws it.' });

export const MarketingPersonRecord = z
  .object({
    person_id: Uuid,
    email: z.string().meta({ description: 'In lower case.', examples: ['ada@example.com'] }),
    other_emails: z.array(z.string()).meta({ description: 'Further addresses of the same person.', examples: [[]] }),
    name: z
      .string()
      .nullable()
      .meta({ examples: ['Ada Lovelace'] }),
    company: z
      .string()
      .nullable()
      .meta({ examples: ['Analytical Engines'] }),
    status: Stage,
    subscription: z
      .enum(['subscribed', 'unsubscribed', 'bounced'])
      .meta({ description: 'Whether the person gets marketing mail: `unsubscribed` and `bounced` get none.' }),
    unsubscribed_at: time('When they unsubscribed.'),
    bounced_at: time('When a mail to them was refused permanently.'),
    consent: MarketingConsent.nullable().meta({ description: 'Their consent to news by mail; null without one.' }),
    sources: z.array(Source),
    event_slugs: z.array(z.string()).meta({ description: 'Events they registered for.', examples: [['vibethon']] }),
    tags: z.array(z.string()).meta({ examples: [['beta']] }),
    owner: Uuid.nullable().meta({ description: 'The user who is responsible for them.' }),
    client_type: z
      .string()
      .nullable()
      .meta({ examples: ['startup'] }),
    plan_tier: z
      .string()
      .nullable()
      .meta({ examples: ['pro'] }),
    user_id: Uuid.nullable().meta({ description: 'Their user here, if they have one.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    history: z
      .array(MarketingPersonHistoryEntry)
      .optional()
      .meta({
        description: 'Newest first, at most 200; in the answers about one person.',
        examples: [[HISTORY_EXAMPLE]],
      }),
  })
  .meta({ id: 'MarketingPersonRecord', description: 'A person the service knows by an e-mail address.', examples: [PERSON_EXAMPLE] });
export type MarketingPersonRecord = z.infer<typeof MarketingPersonRecord>;

export const MarketingPeopleListResponse = z
  .object({
    data: z.array(MarketingPersonRecord),
    has_more: z.boolean().meta({ description: 'Whether the list continues after this page.', examples: [false] }),
    total: z
      .int()
      .min(0)
      .meta({ description: 'Number of matches.', examples: [1] }),
    limit: z.int().meta({ examples: [50] }),
    offset: z.int().meta({ examples: [0] }),
    total_is_exact: z.boolean().meta({
      description: 'False if `q` may match so many people that `total` is estimated from a part of them.',
      examples: [true],
    }),
  })
  .meta({
    id: 'MarketingPeopleListResponse',
    description: 'People, newest first.',
    examples: [
      { data: [{ ...PERSON_EXAMPLE, history: [HISTORY_EXAMPLE] }], has_more: false, total: 1, total_is_exact: true, limit: 50, offset: 0 },
    ],
  });
export type MarketingPeopleListResponse = z.infer<typeof MarketingPeopleListResponse>;

const Reason = plain(500).meta({ description: 'The reason, for the history.', examples: ['Asked for it on the phone on 21 November.'] });

export const MarketingPeopleActionRequest = z
  .discriminatedUnion('action', [
    z.strictObject({ action: z.literal('tag'), tag: TagText }),
    z.strictObject({ action: z.literal('untag'), tag: TagText }),
    z.strictObject({
      action: z.literal('assign_owner'),
      owner: Uuid.nullable().meta({ description: 'A user with the role `marketing` or `admin`; null: none.' }),
    }),
    z.strictObject({ action: z.literal('set_status'), status: Stage }),
    z.strictObject({
      action: z.literal('note'),
      note: prose(4_000)
        .min(1)
        .meta({ description: 'Plain text, may have several lines.', examples: ['Wants a call in December.'] }),
    }),
    z.strictObject({
      action: z.literal('merge'),
      into: Uuid.meta({ description: 'The person to keep; the one in the path is merged into them.' }),
    }),
    z.strictObject({ action: z.literal('unsubscribe'), reason: Reason.optional() }),
    z.strictObject({ action: z.literal('resubscribe'), reason: Reason }),
    z.strictObject({ action: z.literal('erase'), reason: Reason.optional() }),
  ])
  .meta({
    id: 'MarketingPeopleActionRequest',
    description:
      'What to do with a person. `erase` deletes all their data, permanently, and no import restores it; an unpaid place at an event becomes free; payments stay in the ledger, which names accounts only.',
    examples: [{ action: 'tag', tag: 'beta' }],
  });
export type MarketingPeopleActionRequest = z.infer<typeof MarketingPeopleActionRequest>;

export const MarketingPeopleActionResponse = z
  .object({
    action: z.string().meta({ examples: ['tag'] }),
    changed: z.boolean().meta({ description: 'False if nothing changed.', examples: [true] }),
    person: MarketingPersonRecord.nullable().meta({ description: 'As they are now; null once erased.' }),
  })
  .meta({
    id: 'MarketingPeopleActionResponse',
    description: 'The result of an action.',
    examples: [{ action: 'tag', changed: true, person: PERSON_EXAMPLE }],
  });
export type MarketingPeopleActionResponse = z.infer<typeof MarketingPeopleActionResponse>;

export const MarketingPersonExport = z
  .object({
    person: MarketingPersonRecord,
    records: z
      .record(z.string(), z.array(z.record(z.string(), z.unknown().meta({ description: 'Any JSON.' }))))
      .meta({ description: 'What else is stored under their addresses, by kind.', examples: [{ users: [{ email: 'ada@example.com' }] }] }),
  })
  .meta({
    id: 'MarketingPersonExport',
    description: 'All data of a person.',
    examples: [{ person: PERSON_EXAMPLE, records: { users: [{ email: 'ada@example.com' }] } }],
  });
export type MarketingPersonExport = z.infer<typeof MarketingPersonExport>;

export const MarketingPeopleImportResponse = z
  .object({
    rows: z.int().meta({ description: 'Rows read, the header not counted.', examples: [3] }),
    created: z.int().meta({ examples: [1] }),
    updated: z.int().meta({ description: 'People who were known already.', examples: [1] }),
    skipped: z.int().meta({ description: 'Rows of people who were erased: no import restores them.', examples: [0] }),
    failed: z.int().meta({ examples: [1] }),
    errors: z
      .array(
        z.object({
          line: z.int().meta({ description: 'Of the file, 1 for its first; of a row of several lines, where it begins.', examples: [4] }),
          message: z.string().meta({ examples: ['email: must be an e-mail address such as ada@example.com'] }),
        }),
      )
      .meta({ description: 'Rows that could not be imported, the first thousand.' }),
  })
  .meta({
    id: 'MarketingPeopleImportResponse',
    description: 'The result of an import. Valid rows are imported even if others are not valid.',
    examples: [
      {
        rows: 3,
        created: 1,
        updated: 1,
        skipped: 0,
        failed: 1,
        errors: [{ line: 4, message: 'email: must be an e-mail address such as ada@example.com' }],
      },
    ],
  });
export type MarketingPeopleImportResponse = z.infer<typeof MarketingPeopleImportResponse>;

const PersonPath = z.object({ person_id: Uuid.meta({ description: 'The person’s id.' }) });
const reading = { auth: 'bearer', scope: 'marketing:read', role: 'marketing', tag: 'Marketing people' } as const;
const writing = { ...reading, scope: 'marketing:write' } as const;
const csv = (description: string) => z.string().meta({ description, examples: ['email,name\r\nada@example.com,Ada Lovelace\r\n'] });

export const people = c.router({
  list: {
    method: 'GET',
    path: '/v1/marketing/people',
    summary: 'List people',
    description: 'Newest first. All given filters must match.',
    headers: headersA,
    query: PeopleFilter.extend({
      limit: pageQuery.limit,
      offset: wholeNumber(0).default(0).meta({ description: 'How many to skip.' }),
    }),
    responses: { 200: MarketingPeopleListResponse, ...refusals.read },
    metadata: { ...reading, operationId: 'listMarketingPeople', sdk: 'people.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/marketing/people/:person_id',
    summary: 'Show a person',
    description: 'A list of one, with their history. The id of a merged person returns the person they were merged into.',
    headers: headersA,
    pathParams: PersonPath,
    responses: { 200: MarketingPeopleListResponse, 404: problem, ...refusals.read },
    metadata: { ...reading, operationId: 'getMarketingPerson' } as const,
  },
  act: {
    method: 'POST',
    path: '/v1/marketing/people/:person_id/actions',
    summary: 'Perform an action on a person',
    description: 'Tags, owner, stage, notes, merging, unsubscribing, erasing: each is in the history and in the audit log.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: PersonPath,
    body: MarketingPeopleActionRequest,
    responses: { 200: MarketingPeopleActionResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writing, operationId: 'actOnMarketingPerson', sdk: 'people.act' } as const,
  },
  exportOne: {
    method: 'GET',
    path: '/v1/marketing/people/:person_id/export',
    summary: 'Export all data of a person',
    description: 'For requests of access by the person. It is in the audit log.',
    headers: headersA,
    pathParams: PersonPath,
    responses: { 200: MarketingPersonExport, 404: problem, ...refusals.read },
    metadata: { ...reading, operationId: 'exportMarketingPerson', sdk: 'people.exportOne' } as const,
  },
});

/** CSV passes as it comes, beside the account API. */
export const peopleTransfers = c.router({
  exportAll: {
    method: 'GET',
    path: '/v1/marketing/people/export',
    summary: 'Export people as CSV',
    description:
      'RFC 4180, UTF-8, streamed. A cell that a spreadsheet would take for a formula begins with an apostrophe. It is in the audit log.',
    headers: headersA,
    query: PeopleFilter,
    responses: { 200: c.otherResponse({ contentType: 'text/csv', body: csv('A header and a row for each person.') }), ...refusals.read },
    metadata: { ...reading, operationId: 'exportMarketingPeople', sdk: 'people.exportAll' } as const,
  },
  import: {
    method: 'POST',
    path: '/v1/marketing/people/import',
    summary: 'Import people from CSV',
    description:
      'The body is the CSV file itself, `Content-Type: text/csv`, UTF-8, at most 512 MiB, with a header: `email`, and any of `name`, `company`, `client_type`, `tags` (by semicolons), `event_slug` (of an event that there is), `consent` (`given` where you have it on record) with `consent_given_at` (when, RFC 3339). Rows that cannot be taken are named by their lines; all others are in. Importing a file again changes nothing more.',
    headers: headersA,
    body: csv('The file.'),
    responses: { 200: MarketingPeopleImportResponse, ...refusals.write },
    metadata: { ...writing, body: 'csv', operationId: 'importMarketingPeople' } as const,
  },
});
