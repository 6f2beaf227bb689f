import type { SiteEventUpdateRequest } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { SiteEventResponseFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { usdAmount, wholeNumber } from '../option-values.ts';
import { plainText } from '../print.ts';
import { showEvent } from './show-event.ts';

/** As they are typed; what takes an option away is the word `none`. */
interface Settings {
  readonly slug?: string;
  readonly title?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly starts?: string;
  readonly ends?: string;
  readonly timeZone?: string;
  readonly venue?: string;
  readonly address?: string;
  readonly online?: string;
  readonly image?: string;
  readonly places?: number | 'any';
  readonly price?: string;
  readonly closes?: string;
}

const places = (text: string): number | 'any' => (text === 'any' ? text : wholeNumber()(text));

const settings = (): Option[] => [
  new Option('--slug <slug>', 'its name in URLs'),
  new Option('--title <title>', 'in one line'),
  new Option('--starts <time>', 'RFC 3339 with an offset, such as 2027-03-05T18:00:00+01:00'),
  new Option('--ends <time>', 'the same'),
  new Option('--time-zone <name>', 'of the IANA database, such as Europe/Berlin'),
  new Option('--summary <text>', 'a sentence for lists'),
  new Option('--description <file>', 'plain text; - for stdin'),
  new Option('--venue <name>', 'where it takes place; none for nowhere'),
  new Option('--address <text>', 'of the venue; none'),
  new Option('--online <url>', 'where to join; none'),
  new Option('--image <url>', 'a picture; none'),
  new Option('--places <n>', 'how many there are, or any').argParser(places),
  new Option('--price <usd>', 'of a place, whole cents; 0 is free').argParser(usdAmount),
  new Option('--closes <time>', 'when registration ends; none: with the event'),
];

const REQUIRED = new Set(['--slug <slug>', '--title <title>', '--starts <time>', '--ends <time>', '--time-zone <name>']);

/** `events create`, `events edit`. */
export function writeEvents(events: Command, perform: Perform): void {
  const created = events.command('create').description('Create a draft, which is not public; for administrators');
  for (const option of settings()) created.addOption(option.makeOptionMandatory(REQUIRED.has(option.flags)));
  withJson(SiteEventResponseFields, created).action(perform(create));
  const edited = events.command('edit').description('Change the named settings only; for administrators').argument('<slug>');
  for (const option of settings()) edited.addOption(option);
  withJson(SiteEventResponseFields, edited).action(perform(edit));
}

async function create(world: CommandWorld, { options }: Typed<Settings>): Promise<void> {
  const { slug = '', title = '', starts: starts_at = '', ends: ends_at = '', timeZone: time_zone = '' } = options;
  const request = { ...(await requestOf(world, options)), slug, title, starts_at, ends_at, time_zone };
  const client = await world.connect();
  showEvent(world, await client.events.create(request, { signal: world.signal }));
  world.err.write(plainText(`A draft: \`tallygate events publish ${slug}\` publishes it.\n`));
}

async function edit(world: CommandWorld, { args: [slug = ''], options }: Typed<Settings>): Promise<void> {
  const request = await requestOf(world, options);
  if (Object.keys(request).length === 0)
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, 'Name at least one setting, such as --places.');
  const client = await world.connect();
  const { event_id } = await client.marketingEvents.get(slug, { signal: world.signal });
  showEvent(world, await client.events.update(event_id, request, { signal: world.signal }));
}

async function requestOf(world: CommandWorld, given: Settings): Promise<SiteEventUpdateRequest> {
  const { places: capacity } = given;
  const wanted = {
    slug: given.slug,
    title: given.title,
    summary: given.summary,
    description: given.description === undefined ? undefined : await readText(world, given.description),
    starts_at: given.starts,
    ends_at: given.ends,
    time_zone: given.timeZone,
    venue_name: orNull(given.venue),
    venue_address: orNull(given.address),
    online_url: orNull(given.online),
    image_url: orNull(given.image),
    capacity: capacity === 'any' ? null : capacity,
    price_usd: given.price,
    registration_closes_at: orNull(given.closes),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([_name, value]) => value !== undefined));
}

const orNull = (text: string | undefined): string | null | undefined => (text === 'none' ? null : text);
