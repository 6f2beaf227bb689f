import type { contract, MarketingContentRecord, PublishedContentItem } from '@tallygate/contract';
import { type Call, type Handlers, originOf, type Principal } from '../identity/index.ts';
import { rfc3339 } from '../kernel/clock.ts';
import { entityTagOf, isFresh } from '../kernel/entity-tag.ts';
import type { Author, Content } from './content.ts';
import type { Piece } from './piece.ts';

/** How long a page may show what was taken back; long enough to spare the database a crowd. */
const CACHE_CONTROL = 'public, max-age=60';

export const contentRoutes = (content: Content): Handlers<typeof contract.content> => ({
  list: async ({ query }) => {
    const { items, total } = await content.list(query);
    return { status: 200, body: { items: items.map(toWire), total, limit: query.limit, offset: query.offset } };
  },
  create: async ({ body, ...call }) => ({ status: 201, body: toWire(await content.create(authorOf(call), body)) }),
  get: async ({ params }) => ({ status: 200, body: toWire(await content.get(params.content_id)) }),
  update: async ({ params, body, ...call }) => ({
    status: 200,
    body: toWire(await content.update(authorOf(call), params.content_id, body)),
  }),
  publish: async ({ params, ...call }) => ({ status: 200, body: toWire(await content.publish(authorOf(call), params.content_id)) }),
  unpublish: async ({ params, ...call }) => ({ status: 200, body: toWire(await content.unpublish(authorOf(call), params.content_id)) }),

  listPublished: async ({ query, headers, setHeader }) => {
    const { items, total } = await content.listPublished(query);
    const body = { items: items.map(toItem), total, limit: query.limit, offset: query.offset };
    return cached(body, headers['if-none-match'], setHeader);
  },
  getPublished: async ({ params, headers, setHeader }) => {
    const piece = await content.getPublished(params.slug);
    return cached({ ...toItem(piece), body: piece.body }, headers['if-none-match'], setHeader);
  },
});

const authorOf = (call: Pick<Call, 'peer' | 'requestId'> & { principal: Principal }): Author => ({
  principal: call.principal,
  origin: originOf(call),
});

function cached<Body>(body: Body, ifNoneMatch: string | undefined, setHeader: Call['setHeader']) {
  const tag = entityTagOf(body);
  setHeader('etag', tag);
  setHeader('cache-control', CACHE_CONTROL);
  return isFresh(ifNoneMatch, tag) ? ({ status: 304, body: undefined } as const) : ({ status: 200, body } as const);
}

const timeOrNull = (at: Date | null): string | null => at && rfc3339(at);

const toWire = (piece: Piece): MarketingContentRecord => ({
  ...piece,
  created_at: rfc3339(piece.created_at),
  updated_at: rfc3339(piece.updated_at),
  first_published_at: timeOrNull(piece.first_published_at),
  published_at: timeOrNull(piece.published_at),
});

const toItem = ({ type, slug, title, summary, tags, first_published_at, updated_at }: Piece): PublishedContentItem => ({
  ...{ type, slug, title, summary, tags },
  published_at: rfc3339(first_published_at ?? updated_at),
  updated_at: rfc3339(updated_at),
});
