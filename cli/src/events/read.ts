import type { SiteEventResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { SiteEventResponseFields } from '../generated/fields.ts';
import { type Column, printList } from '../print.ts';
import { showEvent } from './show-event.ts';

interface Options {
  readonly all?: true;
}

const COLUMNS: readonly Column<SiteEventResponse>[] = [
  { title: 'slug', of: ({ slug }) => slug },
  { title: 'title', of: ({ title }) => title },
  { title: 'status', of: ({ status }) => status },
  { title: 'begins', of: ({ starts_at }) => starts_at },
  { title: 'places left', of: ({ places_left }) => places_left, align: 'right' },
  { title: 'waiting', of: ({ waitlist_length }) => waitlist_length, align: 'right' },
  { title: 'usd', of: ({ price_usd }) => price_usd, align: 'right' },
];

/** `events list`, `events show`. */
export function readEvents(events: Command, perform: Perform): void {
  withJson(
    SiteEventResponseFields,
    events.command('list').description('Events, the next one first').option('--all', 'drafts and archived ones too; for administrators'),
  ).action(perform(list));
  withJson(
    SiteEventResponseFields,
    events
      .command('show')
      .description('One event')
      .argument('<slug>')
      .option('--all', 'also a draft or an archived one; needs the role marketing or admin'),
  ).action(perform(show));
}

async function list(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const client = await world.connect(options.all ? 'any' : 'none');
  const found = await (options.all ? client.events.listAll({ signal: world.signal }) : client.events.list({ signal: world.signal }));
  printList(world, found, COLUMNS);
}

async function show(world: CommandWorld, { args: [slug = ''], options }: Typed<Options>): Promise<void> {
  const client = await world.connect(options.all ? 'any' : 'none');
  const of = { signal: world.signal };
  showEvent(world, await (options.all ? client.marketingEvents.get(slug, of) : client.events.get(slug, of)));
}
