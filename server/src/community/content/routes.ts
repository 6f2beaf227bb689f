import type { contract, MarketingContentRecord, PublishedContentItem } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Call, Handlers, Principal } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { freshAnswer } from '../../kernel/fresh-answer.ts';
import { mapPage } from '../../kernel/page.ts';
import type { Author, Content } from './content.ts';
import type { Piece } from './piece.ts';

export const contentRoutes = (content: Content): Handlers<typeof contract.content> => ({
  list: async ({ query }) => ({ status: 200, body: mapPage(await content.list(query), toWire) }),
  create: async ({ body, ...call }) => ({ status: 201, body: toWire(await content.create(authorOf(call), body)) }),
  get: async ({ params }) => ({ status: 200, body: toWire(await content.get(params.content_id)) }),
  update: async ({ params, body, ...call }) => ({
    status: 200,
    body: toWire(await content.update(authorOf(call), params.content_id, body)),
  }),
  publish: async ({ params, ...call }) => ({ status: 200, body: toWire(await content.publish(authorOf(call), params.content_id)) }),
  unpublish: async ({ params, ...call }) => ({ status: 200, body: toWire(await content.unpublish(authorOf(call), params.content_id)) }),

  listPublished: async (call) => freshAnswer(call, mapPage(await content.listPublished(call.query), toItem)),
  getPublished: async (call) => {
    const piece = await content.getPublished(call.params.slug);
    return freshAnswer(call, { ...toItem(piece), body: piece.body });
  },
});

const authorOf = (call: Pick<Call, 'peer' | 'requestId'> & { principal: Principal }): Author => ({
  principal: call.principal,
  origin: originOf(call),
});

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
