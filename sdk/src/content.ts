import type {
  MarketingContentCreateRequest,
  MarketingContentListResponse,
  MarketingContentRecord,
  MarketingContentUpdateRequest,
  PublishedContentItem,
  PublishedContentListResponse,
  PublishedContentResponse,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Which content. */
export interface ContentQuery extends PageQuery {
  /** `post`, `page`, `changelog`, `case_study` or `announcement`. */
  readonly type?: string | undefined;
}

/** `tallygate.content`: posts, pages and other texts of the team. All but `listPublished` and `read` needs the role `marketing`. */
export class Content {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Drafts and published content, what was changed last first. */
  list(query?: ContentQuery, options?: CallOptions): PagedCall<MarketingContentListResponse, MarketingContentRecord> {
    return this.#transport.pages({ path: '/v1/marketing/content', query: { ...query } }, ({ content_id }) => content_id, options);
  }

  /** Writes a draft; nobody else can read it until it is published. */
  create(request: MarketingContentCreateRequest, options?: CallOptions): Call<MarketingContentRecord> {
    return this.#transport.json({ method: 'POST', path: '/v1/marketing/content', body: request, isOnce: true }, options);
  }

  /** One piece of content with its version, from which changes are made. */
  get(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.#transport.json({ method: 'GET', path: contentPath(contentId) }, options);
  }

  /** Changes what is given. Rejects with a `ConflictError` when somebody changed it after `version`. */
  update(contentId: string, request: MarketingContentUpdateRequest, options?: CallOptions): Call<MarketingContentRecord> {
    return this.#transport.json({ method: 'PATCH', path: contentPath(contentId), body: request }, options);
  }

  /** Lets everybody read it. Rejects with a `ConflictError` when they can already. */
  publish(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.#transport.json({ method: 'POST', path: `${contentPath(contentId)}/publish` }, options);
  }

  /** Makes it a draft again. Rejects with a `ConflictError` when it is one. */
  unpublish(contentId: string, options?: CallOptions): Call<MarketingContentRecord> {
    return this.#transport.json({ method: 'POST', path: `${contentPath(contentId)}/unpublish` }, options);
  }

  /** What everybody may read, without the texts; the newest first. Needs no credential. */
  listPublished(query?: ContentQuery, options?: CallOptions): PagedCall<PublishedContentListResponse, PublishedContentItem> {
    return this.#transport.pages({ path: '/v1/content', query: { ...query } }, ({ slug }) => slug, options);
  }

  /** Published content with its text (Markdown, not cleaned for HTML). Needs no credential. */
  read(slug: string, options?: CallOptions): Call<PublishedContentResponse> {
    return this.#transport.json({ method: 'GET', path: `/v1/content/${pathStep(slug)}` }, options);
  }
}

const contentPath = (contentId: string): string => `/v1/marketing/content/${pathStep(contentId)}`;
