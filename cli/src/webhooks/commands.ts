import type { Tallygate, WebhookDelivery, WebhookEndpoint, WebhookEndpointWithSecret } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import {
  WebhookDeliveryFields,
  WebhookEndpointFields,
  WebhookEndpointWithSecretFields,
  WebhookEventNameValues,
  WebhookFormatValues,
  WebhookReplayResponseFields,
  WebhookTestResponseFields,
} from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import { type Column, plainText, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const LINES: readonly Column<WebhookEndpoint>[] = [
  { title: 'Webhook', of: ({ webhook_id }) => webhook_id },
  { title: 'URL', of: ({ url }) => url },
  { title: 'Format', of: ({ format }) => format },
  { title: 'Events', of: ({ event_types }) => event_types?.join(' ') ?? 'all' },
  { title: 'Status', of: ({ status, disabled_reason }) => (disabled_reason === null ? status : `${status}: ${disabled_reason}`) },
];
const COLUMNS: readonly Column<WebhookEndpoint>[] = LINES.map((column) => ({ ...column, title: column.title.toLowerCase() }));
const SECRET: readonly Column<WebhookEndpointWithSecret>[] = [...LINES, { title: 'Secret', of: ({ secret }) => secret }];
const DELIVERIES: readonly Column<WebhookDelivery>[] = [
  { title: 'id', of: ({ delivery_id }) => delivery_id },
  { title: 'event', of: ({ event }) => event.type },
  { title: 'status', of: ({ status }) => status },
  { title: 'attempts', of: ({ attempts }) => attempts.length, align: 'right' },
  { title: 'last answer', of: ({ attempts }) => attempts.at(-1)?.status_code ?? attempts.at(-1)?.error ?? '' },
  { title: 'next attempt', of: ({ next_attempt_at }) => next_attempt_at ?? '', isSpare: true },
];

const withTypes = (command: Command): Command =>
  command.addOption(new Option('--type <type...>', 'only events of these types; all when left out').choices(WebhookEventNameValues));
const withGateway = (command: Command): Command =>
  command.option('--gateway', 'of the gateway, which is sent the events of every account; for administrators');

export function webhookCommands(webhooks: Command, perform: Perform): void {
  withJson(WebhookEndpointFields, withGateway(withPages(webhooks.command('list').description('List webhooks, newest first')))).action(
    perform(list),
  );
  withJson(
    WebhookEndpointWithSecretFields,
    withGateway(
      withTypes(
        webhooks.command('create').description('Create a webhook; its secret is shown once').argument('<url>', 'where events are sent'),
      ),
    )
      .addOption(new Option('--format <format>', 'what is sent').choices(WebhookFormatValues).default('standard'))
      .option('--description <text>', 'for people'),
  ).action(perform(create));
  withJson(
    WebhookEndpointFields,
    withTypes(webhooks.command('update').description('Change, disable or enable a webhook').argument('<webhook>', 'id'))
      .option('--all-types', 'events of all types')
      .option('--url <url>', 'where events are sent')
      .option('--description <text>', 'for people')
      .addOption(new Option('--enable', 'send events from now on').conflicts('disable'))
      .option('--disable', 'send nothing any more'),
  ).action(perform(update));
  withJson(
    WebhookEndpointWithSecretFields,
    webhooks
      .command('rotate')
      .description('Replace the secret of a webhook; both sign for a while')
      .argument('<webhook>', 'id')
      .option('--grace <seconds>', 'how long both secrets sign', wholeNumber(0), 86_400),
  ).action(perform(rotate));
  webhooks.command('delete').description('Delete a webhook').argument('<webhook>', 'id').action(perform(remove));
  withJson(WebhookTestResponseFields, webhooks.command('test').description('Send a test event').argument('<webhook>', 'id')).action(
    perform(test),
  );
  deliveryCommands(webhooks, perform);
}

function deliveryCommands(webhooks: Command, perform: Perform): void {
  withJson(
    WebhookDeliveryFields,
    withPages(
      webhooks.command('deliveries').description('What became of events at a webhook, newest first').argument('<webhook>', 'id'),
    ).addOption(new Option('--status <status>', 'only those').choices(['pending', 'delivered', 'failed'])),
  ).action(perform(deliveries));
  withJson(
    [...WebhookReplayResponseFields, ...WebhookDeliveryFields],
    webhooks
      .command('replay')
      .description('Send again what was not delivered since a time, or one delivery')
      .argument('<webhook>', 'id')
      .addOption(new Option('--since <time>', 'RFC 3339, as 2026-11-21T08:00:00Z').conflicts('delivery'))
      .option('--delivery <id>', 'this one, also if it was delivered'),
  ).action(perform(replay));
}

interface Gateway {
  readonly gateway?: true;
}
const ownerOf = ({ gateway }: Gateway) => (gateway ? ('gateway' as const) : ('account' as const));
const forChanges = async (world: CommandWorld): Promise<Tallygate['webhooks']> => (await world.connect('session')).webhooks;

async function list(world: CommandWorld, { options }: Typed<PageOptions & Gateway>): Promise<void> {
  const { webhooks } = await world.connect();
  const owner = ownerOf(options);
  await printPages(world, options, { columns: COLUMNS, list: (limit) => webhooks.list({ limit, owner }, { signal: world.signal }) });
}

interface Settings {
  readonly type?: WebhookEndpoint['event_types'] & object;
  readonly description?: string;
}

async function create(
  world: CommandWorld,
  { args: [url = ''], options }: Typed<Settings & Gateway & { readonly format: WebhookEndpoint['format'] }>,
): Promise<void> {
  const webhooks = await forChanges(world);
  const { type, description, format } = options;
  const wish = { url, owner: ownerOf(options), format, event_types: type ?? null, ...(description !== undefined && { description }) };
  printRecord(world, await webhooks.create(wish, { signal: world.signal }), SECRET);
}

interface Changes extends Settings {
  readonly allTypes?: true;
  readonly url?: string;
  readonly enable?: true;
  readonly disable?: true;
}

async function update(world: CommandWorld, { args: [id = ''], options }: Typed<Changes>): Promise<void> {
  const { type, allTypes, url, description, enable, disable } = options;
  const changes = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(type !== undefined && { event_types: type }),
    ...(allTypes && { event_types: null }),
    ...((enable || disable) && { enabled: enable === true }),
  };
  printRecord(world, await (await forChanges(world)).update(id, changes, { signal: world.signal }), LINES);
}

async function rotate(world: CommandWorld, { args: [id = ''], options }: Typed<{ readonly grace: number }>): Promise<void> {
  const webhooks = await forChanges(world);
  printRecord(world, await webhooks.rotateSecret(id, { grace_seconds: options.grace }, { signal: world.signal }), SECRET);
}

async function remove(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  await (await forChanges(world)).delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}

async function test(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const sent = await (await forChanges(world)).test(id, { signal: world.signal });
  printRecord(world, sent, [{ title: 'Event', of: ({ event_id }) => event_id }]);
}

async function deliveries(
  world: CommandWorld,
  { args: [id = ''], options }: Typed<PageOptions & { readonly status?: WebhookDelivery['status'] }>,
): Promise<void> {
  const { webhooks } = await world.connect();
  const { status } = options;
  const page = (limit: number) => webhooks.deliveries(id, { limit, ...(status !== undefined && { status }) }, { signal: world.signal });
  await printPages(world, options, { columns: DELIVERIES, list: page });
}

async function replay(
  world: CommandWorld,
  { args: [id = ''], options }: Typed<{ readonly since?: string; readonly delivery?: string }>,
): Promise<void> {
  const webhooks = await forChanges(world);
  const { delivery, since = new Date(0).toISOString() } = options;
  if (delivery !== undefined) printRecord(world, await webhooks.replayDelivery(id, delivery, { signal: world.signal }), DELIVERIES);
  else {
    const replayed = await webhooks.replay(id, { since }, { signal: world.signal });
    printRecord(world, replayed, [{ title: 'Sent again', of: (answer) => answer.replayed }]);
  }
}
