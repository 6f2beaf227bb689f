import { Call, type CallResult } from './call.ts';

/** Which page of a list. */
export interface PageQuery {
  /** The maximum number of items in the page: 1 to 200; default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before, with the same filters. */
  readonly cursor?: string | undefined;
}

/** What every page of every list has. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** Whether the list continues after this page. */
  readonly has_more: boolean;
}

/** The query parameter that leads to the next page. */
export type NextPage = Readonly<Record<string, string | number>>;

/** How a list is read further. */
export interface Paging<P extends Page<Item>, Item> {
  fetchPage(next: NextPage): Promise<CallResult<P>>;
  /** Identifies items, if the pages of a list are numbered: items that are added meanwhile move others to the next page. */
  readonly idOf?: ((item: Item) => string) | undefined;
}

/**
 * A list under way: await it for the page that was asked for, or iterate with `for await` over every item from there on. Further pages
 * are fetched as the loop gets to them.
 */
export class PagedCall<P extends Page<Item>, Item> extends Call<P> implements AsyncIterable<Item> {
  readonly #paging: Paging<P, Item>;

  constructor(paging: Paging<P, Item>) {
    super(paging.fetchPage({}));
    this.#paging = paging;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { fetchPage, idOf } = this.#paging;
    let page: P = await this;
    let before = new Set<string>();
    for (;;) {
      for (const item of page.data) if (!idOf || !before.has(idOf(item))) yield item;
      const next = nextOf(page);
      if (!next) return;
      if (idOf) before = new Set(page.data.map(idOf));
      page = (await fetchPage(next)).data;
    }
  }
}

/** The lists of the service have a cursor, those of OpenAI continue after an id, and the list of people is counted. */
function nextOf(page: Page<unknown> & { next_cursor?: string | null; last_id?: string | null; offset?: number }): NextPage | undefined {
  if (!page.has_more || page.data.length === 0) return undefined;
  if (page.next_cursor) return { cursor: page.next_cursor };
  if (page.last_id) return { after: page.last_id };
  return page.offset === undefined ? undefined : { offset: page.offset + page.data.length };
}
