import { Call, type CallResult } from './call.ts';

/** A page of OpenAI’s lists. */
export interface CursorPage<Item> {
  readonly data: readonly Item[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/**
 * A list under way: await it for the page that was asked for, or iterate with `for await` over every item from there on. Further pages are
 * fetched as the loop gets to them.
 */
export class CursorCall<P extends CursorPage<Item>, Item> extends Call<P> implements AsyncIterable<Item> {
  readonly #fetchAfter: (after: string) => Promise<CallResult<P>>;

  constructor(firstPage: Promise<CallResult<P>>, fetchAfter: (after: string) => Promise<CallResult<P>>) {
    super(firstPage);
    this.#fetchAfter = fetchAfter;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page: P = await this;
    for (;;) {
      yield* page.data;
      if (!page.has_more || page.data.length === 0 || page.last_id === null) return;
      page = (await this.#fetchAfter(page.last_id)).data;
    }
  }
}
