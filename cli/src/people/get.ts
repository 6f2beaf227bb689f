import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingPersonRecordFields } from '../generated/fields.ts';
import { printRecord } from '../print.ts';
import { PERSON_LINES } from './show-person.ts';

export const getPerson = (people: Command, perform: Perform): Command =>
  withJson(
    MarketingPersonRecordFields,
    people.command('get').description('Show a person, with the history of the record').argument('<person-id>'),
  ).action(perform(get));

async function get(world: CommandWorld, { args: [personId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.people.get(personId, { signal: world.signal }), PERSON_LINES);
}
