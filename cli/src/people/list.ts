import type { MarketingPersonRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingPersonRecordFields } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import { printList } from '../print.ts';
import { type FilterOptions, filterOf, withFilter } from './filter-options.ts';
import { PERSON_COLUMNS } from './show-person.ts';

const MAX_PAGE = 200;

interface Options extends FilterOptions {
  readonly limit: number;
}

export const listPeople = (people: Command, perform: Perform): Command =>
  withJson(
    MarketingPersonRecordFields,
    withFilter(people.command('list').description('List people, those who became known last first')).option(
      '--limit <n>',
      'how many at most',
      wholeNumber(),
      50,
    ),
  ).action(perform(list));

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { limit } = options;
  const client = await world.connect();
  const pages = client.people.list({ ...filterOf(options), limit: Math.min(limit, MAX_PAGE) }, { signal: world.signal });
  const found: MarketingPersonRecord[] = [];
  for await (const person of pages) {
    found.push(person);
    if (found.length === limit) break;
  }
  printList(world, found, PERSON_COLUMNS);
  const { total, total_is_exact } = await pages;
  if (world.out.isTty && total > found.length)
    world.err.write(`${found.length} of ${total_is_exact ? '' : 'about '}${total}; --limit shows more.\n`);
}
