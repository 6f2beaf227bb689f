import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingPersonRecordFields } from '../generated/fields.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { type FilterOptions, filterOf, withFilter } from './filter-options.ts';
import { PERSON_COLUMNS } from './show-person.ts';

export const listPeople = (people: Command, perform: Perform): Command =>
  withJson(MarketingPersonRecordFields, withPages(withFilter(people.command('list').description('List people, newest first')))).action(
    perform(list),
  );

async function list(world: CommandWorld, { options }: Typed<FilterOptions & PageOptions>): Promise<void> {
  const { people } = await world.connect();
  const filter = filterOf(options);
  await printPages(world, options, {
    columns: PERSON_COLUMNS,
    list: (limit) => people.list({ ...filter, limit }, { signal: world.signal }),
  });
}
