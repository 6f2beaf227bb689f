import type { MarketingEmailRecipient } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingEmailRecipientFields, MarketingEmailRecordFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';
import { EMAIL_COLUMNS, EMAIL_LINES } from './show-email.ts';

const STATES = ['queued', 'handing_over', 'sent', 'unconfirmed', 'bounced', 'rejected', 'failed', 'suppressed', 'canceled'] as const;
const RECIPIENT_COLUMNS: readonly Column<MarketingEmailRecipient>[] = [
  { title: 'to', of: ({ to }) => to },
  { title: 'state', of: ({ state }) => state },
  { title: 'at', of: ({ at }) => at },
  { title: 'error', of: ({ last_error }) => last_error },
];

interface RecipientOptions extends PageOptions {
  readonly state?: (typeof STATES)[number];
}

/** `emails list`, `emails get`, `emails recipients`, `emails cancel`: what becomes of mails that were sent. */
export function followEmails(emails: Command, perform: Perform): void {
  withJson(MarketingEmailRecordFields, withPages(emails.command('list').description('List mails, newest first'))).action(perform(list));
  withJson(MarketingEmailRecordFields, emails.command('get').description('Show the state of a mail').argument('<email-id>')).action(
    perform(get),
  );
  withJson(
    MarketingEmailRecipientFields,
    withPages(
      emails
        .command('recipients')
        .description('List the recipients of a mail')
        .argument('<email-id>')
        .addOption(new Option('--state <state>', 'only those in this state').choices(STATES)),
    ),
  ).action(perform(recipients));
  withJson(
    MarketingEmailRecordFields,
    emails.command('cancel').description('Cancel a mail: recipients in the queue do not get it').argument('<email-id>'),
  ).action(perform(cancel));
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { emails } = await world.connect();
  await printPages(world, options, { columns: EMAIL_COLUMNS, list: (limit) => emails.list({ limit }, { signal: world.signal }) });
}

async function get(world: CommandWorld, { args: [emailId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.emails.get(emailId, { signal: world.signal }), EMAIL_LINES);
}

async function recipients(world: CommandWorld, { args: [emailId = ''], options }: Typed<RecipientOptions>): Promise<void> {
  const { state } = options;
  const { emails } = await world.connect();
  await printPages(world, options, {
    columns: RECIPIENT_COLUMNS,
    list: (limit) => emails.recipients(emailId, { state, limit }, { signal: world.signal }),
  });
}

async function cancel(world: CommandWorld, { args: [emailId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.emails.cancel(emailId, { signal: world.signal }), EMAIL_LINES);
}
