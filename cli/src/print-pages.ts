import type { CommandWorld } from './command.ts';
import { type Column, printList } from './print.ts';

/** The most that the service gives in one page. */
export const MAX_PAGE = 200;

interface Pages<T> extends AsyncIterable<T>, PromiseLike<{ readonly total: number }> {}

/** Prints the first `limit` of a list, over as many pages as that takes; people are told when there are more. */
export async function printPages<T extends object>(
  world: CommandWorld,
  pages: Pages<T>,
  { limit, columns }: { readonly limit: number; readonly columns: readonly Column<T>[] },
): Promise<void> {
  const rows: T[] = [];
  for await (const row of pages) {
    rows.push(row);
    if (rows.length === limit) break;
  }
  printList(world, rows, columns);
  const { total } = await pages;
  if (world.out.isTty && total > rows.length) world.err.write(`${rows.length} of ${total}; --limit shows more.\n`);
}
