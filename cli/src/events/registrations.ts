import type { MarketingEventRegistrationRecord } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingEventRegistrationRecordFields } from '../generated/fields.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const STATUSES = ['confirmed', 'waitlisted', 'canceled'] as const;

interface EditOptions {
  readonly status?: (typeof STATUSES)[number];
  readonly note?: string;
  readonly attended?: boolean;
}

const COLUMNS: readonly Column<MarketingEventRegistrationRecord>[] = [
  { title: 'id', of: ({ registration_id }) => registration_id },
  { title: 'address', of: ({ email }) => email },
  { title: 'name', of: ({ name }) => name },
  { title: 'status', of: ({ status }) => status },
  { title: 'waits', of: ({ waitlist_position }) => waitlist_position, align: 'right', isSpare: true },
  { title: 'payment', of: ({ payment_status }) => payment_status, isSpare: true },
  { title: 'registered', of: ({ registered_at }) => registered_at },
];

/** `events registrations`, `events registration`, `events refund`. */
export function manageRegistrations(events: Command, perform: Perform): void {
  withJson(
    MarketingEventRegistrationRecordFields,
    withPages(
      events.command('registrations').description('Who registered, the newest first; needs the role marketing or admin').argument('<slug>'),
    ),
  ).action(perform(list));
  withJson(
    MarketingEventRegistrationRecordFields,
    events
      .command('registration')
      .description('Change a registration; a free place goes to the person who has waited longest')
      .argument('<registration-id>')
      .addOption(new Option('--status <status>', 'confirmed needs a free place').choices(STATUSES))
      .option('--note <text>', 'for the team')
      .option('--attended', 'they came')
      .option('--no-attended', 'they did not'),
  ).action(perform(edit));
  events
    .command('refund')
    .description('Refund the payment of a place, and cancel the registration; for administrators')
    .argument('<registration-id>')
    .requiredOption('--reason <text>', 'for the audit log')
    .action(perform(refund));
}

async function list(world: CommandWorld, { args: [slug = ''], options }: Typed<PageOptions>): Promise<void> {
  const { marketingEvents } = await world.connect();
  await printPages(world, options, {
    columns: COLUMNS,
    list: (limit) => marketingEvents.registrations(slug, { limit }, { signal: world.signal }),
  });
}

async function edit(world: CommandWorld, { args: [registrationId = ''], options }: Typed<EditOptions>): Promise<void> {
  const { status, note, attended } = options;
  if (status === undefined && note === undefined && attended === undefined)
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, 'Name at least one of --status, --note and --attended.');
  const client = await world.connect();
  const changed = await client.marketingEvents.updateRegistration(registrationId, { status, note, attended }, { signal: world.signal });
  printRecord(world, changed, COLUMNS);
}

async function refund(
  world: CommandWorld,
  { args: [registrationId = ''], options: { reason } }: Typed<{ readonly reason: string }>,
): Promise<void> {
  const client = await world.connect();
  const { email } = await client.events.refundRegistration(registrationId, reason, { signal: world.signal });
  world.err.write(plainText(`Refunded ${email}. The place goes to the person who has waited longest.\n`));
}
