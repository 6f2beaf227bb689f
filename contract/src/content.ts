import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, isPlainText, NOT_PLAIN, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';

const c = initContract();

const ContentPath = z.object({ content_id: Uuid.meta({ description: 'The content’s id.' }) });

export const CONTENT_TYPES = ['post', 'page', 'changelog', 'case_study', 'announcement'] as const;
export const ContentType = z.enum(CONTENT_TYPES).meta({ id: 'ContentType', description: 'The kind of text.' });
export type ContentType = z.infer<typeof ContentType>;

const Slug = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, in words joined by single dashes')
  .meta({ description: 'Its unique name in URLs.', examples: ['receipts-are-here'] });

const Title = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ examples: ['Receipts are here'] });

const Summary = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine(isPlainText, NOT_PLAIN)
  .meta({ description: 'One or two sentences for lists.', examples: ['Every request now has a signed receipt.'] });

/** Line breaks and tabs are part of Markdown; no other control character is. */
const Markdown = z
  .string()
  .min(1)
  .max(100_000)
  .refine((text) => isPlainText(text.replaceAll(/[\n\r\t]/g, '')), NOT_PLAIN)
  .meta({
    description: 'CommonMark. It is stored and returned as written: sanitize it before you show it as HTML.',
    examples: ['Every request leaves a **signed receipt**.'],
  });

const Tags = z
  .array(z.string().trim().min(1).max(40).refine(isPlainText, NOT_PLAIN))
  .max(20)
  .meta({ description: 'For grouping.', examples: [['receipts']] });

const Version = z
  .int()
  .min(1)
  .meta({ description: 'Grows by one with every change.', examples: [3] });

export const MarketingContentCreateRequest = z
  .strictObject({
    type: ContentType,
    slug: Slug,
    title: Title,
    summary: Summary.optional(),
    body: Markdown,
    tags: Tags.default([]),
  })
  .meta({
    id: 'MarketingContentCreateRequest',
    description: 'A new draft.',
    examples: [{ type: 'post', slug: 'receipts-are-here', title: 'Receipts are here', body: 'Every request leaves a **signed receipt**.' }],
  });
export type MarketingContentCreateRequest = z.infer<typeof MarketingContentCreateRequest>;

export const MarketingContentUpdateRequest = z
  .strictObject({
    version: Version.meta({ description: 'The version that the change is based on; if there is a newer one, nothing is changed (409).' }),
    type: ContentType.optional(),
    slug: Slug.optional(),
    title: Title.optional(),
    summary: Summary.nullable().optional(),
    body: Markdown.optional(),
    tags: Tags.optional(),
  })
  .meta({
    id: 'MarketingContentUpdateRequest',
    description: 'What to change. A field that is left out stays; `tags` are replaced as a whole.',
    examples: [{ version: 2, title: 'Receipts are here' }],
  });
export type MarketingContentUpdateRequest = z.infer<typeof MarketingContentUpdateRequest>;

export const MarketingContentRecord = z
  .object({
    content_id: Uuid,
    type: ContentType,
    slug: Slug,
    title: Title,
    summary: Summary.nullable(),
    body: Markdown,
    tags: Tags,
    status: z.enum(['draft', 'published']).meta({ description: 'Only published content can be read without a credential.' }),
    version: Version,
    created_by: Uuid.nullable().meta({ description: 'The user who wrote the first version.' }),
    updated_by: Uuid.nullable().meta({ description: 'The user who changed it last.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    first_published_at: Timestamp.nullable().meta({ description: 'From then on the slug is fixed.' }),
    published_at: Timestamp.nullable().meta({ description: 'The time of the current publication; null for a draft.' }),
  })
  .meta({ id: 'MarketingContentRecord', description: 'Content, as its authors see it.' });
export type MarketingContentRecord = z.infer<typeof MarketingContentRecord>;

export const MarketingContentListResponse = page(MarketingContentRecord).meta({
  id: 'MarketingContentListResponse',
  description: 'Drafts and published content, last changed first.',
});
export type MarketingContentListResponse = z.infer<typeof MarketingContentListResponse>;

const published = {
  type: ContentType,
  slug: Slug,
  title: Title,
  summary: Summary.nullable(),
  tags: Tags,
  published_at: Timestamp.meta({ description: 'When it was published first.' }),
  updated_at: Timestamp,
};

export const PublishedContentItem = z
  .object(published)
  .meta({ id: 'PublishedContentItem', description: 'Published content without its text.' });
export type PublishedContentItem = z.infer<typeof PublishedContentItem>;

export const PublishedContentListResponse = page(PublishedContentItem).meta({
  id: 'PublishedContentListResponse',
  description: 'Published content, the newest first.',
});
export type PublishedContentListResponse = z.infer<typeof PublishedContentListResponse>;

export const PublishedContentResponse = z.object({ ...published, body: Markdown }).meta({
  id: 'PublishedContentResponse',
  description: 'Published content with its text.',
  examples: [
    {
      type: 'post',
      slug: 'receipts-are-here',
      title: 'Receipts are here',
      summary: 'Every request now has a signed receipt.',
      tags: ['receipts'],
      published_at: '2026-11-21T08:00:00.000Z',
      updated_at: '2026-11-21T08:00:00.000Z',
      body: 'Every request leaves a **signed receipt**.',
    },
  ],
});
export type PublishedContentResponse = z.infer<typeof PublishedContentResponse>;

const typeQuery = {
  type: z
    .string()
    .max(40)
    .refine(isPlainText, NOT_PLAIN)
    .optional()
    .meta({ description: 'Only content of this type.', examples: ['post'] }),
};
const ContentQuery = z.object({ ...typeQuery, ...pageQuery });
export type ContentQuery = z.infer<typeof ContentQuery>;

const conditional = {
  'if-none-match': z
    .string()
    .max(2_000)
    .optional()
    .meta({ description: 'The `ETag` of an earlier answer; if it still matches, the answer is 304 without a body.' }),
};

const reads = { auth: 'bearer', scope: 'marketing:read', role: 'marketing', tag: 'Content' } as const;
const writes = { auth: 'bearer', scope: 'marketing:write', role: 'marketing', tag: 'Content' } as const;
const open = { auth: 'none', tag: 'Content' } as const;

export const content = c.router({
  list: {
    method: 'GET',
    path: '/v1/marketing/content',
    summary: 'List content, drafts included',
    description: 'Last changed first. An unknown `type` returns an empty list.',
    headers: headersA,
    query: z.strictObject(ContentQuery.shape),
    responses: { 200: MarketingContentListResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'listMarketingContent', sdk: 'content.list' } as const,
  },
  create: {
    method: 'POST',
    path: '/v1/marketing/content',
    summary: 'Write a draft',
    description: 'The answer is the draft, which is not public until it is published. A slug that is in use is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    body: MarketingContentCreateRequest,
    responses: { 201: MarketingContentRecord, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'createMarketingContent', sdk: 'content.create' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/marketing/content/:content_id',
    summary: 'Get content, drafts included',
    description: 'One piece of content with its version, from which changes are made.',
    headers: headersA,
    pathParams: ContentPath,
    responses: { 200: MarketingContentRecord, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'getMarketingContent', sdk: 'content.get' } as const,
  },
  update: {
    method: 'PATCH',
    path: '/v1/marketing/content/:content_id',
    summary: 'Change content',
    description:
      'Based on the `version` that is sent: a change by another user in between is a 409. Published content changes in public at once; its slug is fixed.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: ContentPath,
    body: MarketingContentUpdateRequest,
    responses: { 200: MarketingContentRecord, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...writes, operationId: 'updateMarketingContent', sdk: 'content.update' } as const,
  },
  publish: {
    method: 'POST',
    path: '/v1/marketing/content/:content_id/publish',
    summary: 'Publish content',
    description: 'A draft becomes public. Content that is already published is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: ContentPath,
    body: c.noBody(),
    responses: { 200: MarketingContentRecord, 404: problem, 409: problem, ...refusals.read },
    metadata: { ...writes, operationId: 'publishMarketingContent', sdk: 'content.publish' } as const,
  },
  unpublish: {
    method: 'POST',
    path: '/v1/marketing/content/:content_id/unpublish',
    summary: 'Unpublish content',
    description: 'It is a draft again, and its public address a 404 when caches have expired (half a minute). A draft is a 409.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: ContentPath,
    body: c.noBody(),
    responses: { 200: MarketingContentRecord, 404: problem, 409: problem, ...refusals.read },
    metadata: { ...writes, operationId: 'unpublishMarketingContent', sdk: 'content.unpublish' } as const,
  },
  listPublished: {
    method: 'GET',
    path: '/v1/content',
    summary: 'List published content',
    description: 'Needs no credential. The newest comes first. With an `ETag`, and cacheable for half a minute.',
    headers: conditional,
    query: ContentQuery,
    responses: { 200: PublishedContentListResponse, 304: c.noBody(), ...refusals.openInput },
    metadata: { ...open, operationId: 'listPublishedContent', sdk: 'content.listPublished' } as const,
  },
  getPublished: {
    method: 'GET',
    path: '/v1/content/:slug',
    summary: 'Read published content',
    description: 'Needs no credential. A draft is answered exactly like an unknown slug. With an `ETag`, and cacheable for half a minute.',
    headers: conditional,
    pathParams: z.object({
      slug: z
        .string()
        .max(120)
        .refine(isPlainText, NOT_PLAIN)
        .meta({ description: 'The content’s slug.', examples: ['receipts-are-here'] }),
    }),
    responses: { 200: PublishedContentResponse, 304: c.noBody(), 404: problem, ...refusals.openInput },
    metadata: { ...open, operationId: 'getPublishedContent', sdk: 'content.read' } as const,
  },
});
