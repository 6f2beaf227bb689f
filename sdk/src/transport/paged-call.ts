import { Call, type CallResult } from './call.ts';

/** Which part of a list: at most `limit` items after the first `offset`. */
export interface PageQuery {
  /** 1 to 200; default 50. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The wrapper of the service's lists. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** How many there are in all. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** What a list needs to go on after its first page. */
export interface Paging<P extends Page<Item>, Item> {
  fetchPage(offset: number): Promise<CallResult<P>>;
  /** Tells items apart. */
  idOf(item: Item): string;
}

/**
 * A list under way: await it for the page that was asked for, or iterate with `for await` over every item from there on. Further pages
 * are fetched as the loop gets to them.
 */
export class PagedCall<P extends Page<Item>, Item> extends Call<P> implements AsyncIterable<Item> {
  readonly #paging: Paging<P, Item>;

  constructor(firstPage: Promise<CallResult<P>>, paging: Paging<P, Item>) {
    super(firstPage);
    this.#paging = paging;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page: P = await this;
    let before = new Set<string>();
    while (page.items.length > 0) {
      // What is added meanwhile pushes the rest down, so that the next page begins with items of the one before.
      for (const item of page.items) if (!before.has(this.#paging.idOf(item))) yield item;
      const offset = page.offset + page.items.length;
      if (offset >= page.total) return;
      before = new Set(page.items.map(this.#paging.idOf));
      page = (await this.#paging.fetchPage(offset)).data;
    }
  }
}
