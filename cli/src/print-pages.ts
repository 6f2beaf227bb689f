import type { Command } from 'commander';
import type { CommandWorld } from './command.ts';
import { wholeNumber } from './option-values.ts';
import { type Column, printList } from './print.ts';

/** The largest page of the service's lists, and of those that are OpenAI's. */
const MAX_PAGE = 200;
export const MAX_OPENAI_PAGE = 100;

/** How much of a list is wanted. */
export interface PageOptions {
  readonly limit: number;
  readonly all?: true;
}

/** Adds the options of every command that prints a list in pages. */
export const withPages = (command: Command): Command =>
  command.option('--limit <n>', 'the maximum number of rows', wholeNumber(), 50).option('--all', 'every row, without a limit');

interface Listing<T> {
  readonly columns: readonly Column<T>[];
  /** The list from its first page on. @param limit the size of its pages */
  list(limit: number): AsyncIterable<T>;
  readonly maxPage?: number;
  /** What is printed where the list is empty. */
  readonly none?: string | undefined;
}

/** Prints a list over as many pages as needed; people get a note when it continues. */
export async function printPages<T extends object>(world: CommandWorld, { limit, all }: PageOptions, listing: Listing<T>): Promise<void> {
  const { columns, maxPage = MAX_PAGE, none } = listing;
  const most = all ? Number.POSITIVE_INFINITY : limit;
  const rows: T[] = [];
  let continues = false;
  // One row more than is printed shows whether the list continues.
  for await (const row of listing.list(Math.min(most + 1, maxPage))) {
    continues = rows.length === most;
    if (continues) break;
    rows.push(row);
  }
  printList(world, rows, columns, none);
  if (world.out.isTty && continues) world.err.write(`The first ${rows.length}; --limit or --all shows more.\n`);
}
