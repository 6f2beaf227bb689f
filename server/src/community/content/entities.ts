import { defineEntity, p } from '@mikro-orm/core';
import type { ContentType } from '@tallygate/contract';

export const Content = defineEntity({
  name: 'Content',
  tableName: 'content',
  properties: {
    contentId: p.uuid().primary(),
    type: p.text().$type<ContentType>(),
    slug: p.text(),
    title: p.text(),
    summary: p.text().nullable(),
    body: p.text(),
    tags: p.array<string>().columnType('text[]'),
    status: p.enum(['draft', 'published']),
    version: p.integer(),
    createdBy: p.uuid().nullable(),
    updatedBy: p.uuid().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    firstPublishedAt: p.datetime().nullable(),
    publishedAt: p.datetime().nullable(),
  },
});
