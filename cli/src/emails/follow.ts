import type { MarketingEmailRecipient, MarketingEmailRecord } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingEmailRecipientFields, MarketingEmailRecordFields } from '../generated/fields.ts';
import { wholeNumber } from '../option-values.ts';
import { type Column, printList, printRecord } from '../print.ts';
import { EMAIL_COLUMNS, EMAIL_LINES } from './show-email.ts';

const MAX_PAGE = 200;
const STATES = ['queued', 'handing_over', 'sent', 'unconfirmed', 'bounced', 'rejected', 'failed', 'suppressed', 'canceled'] as const;
const RECIPIENT_COLUMNS: readonly Column<MarketingEmailRecipient>[] = [
  { title: 'to', of: ({ to }) => to },
  { title: 'state', of: ({ state }) => state },
  { title: 'at', of: ({ at }) => at },
  { title: 'error', of: ({ last_error }) => last_error },
];

interface ListOptions {
  readonly limit: number;
  readonly state?: (typeof STATES)[number];
}

/** `emails list`, `emails get`, `emails recipients`, `emails cancel`: what becomes of mails that were sent. */
export function followEmails(emails: Command, perform: Perform): void {
  withJson(
    MarketingEmailRecordFields,
    emails.command('list').description('List mails, newest first').option('--limit <n>', 'how many at most', wholeNumber(), 50),
  ).action(perform(list));
  withJson(MarketingEmailRecordFields, emails.command('get').description('How far a mail is').argument('<email-id>')).action(perform(get));
  withJson(
    MarketingEmailRecipientFields,
    emails
      .command('recipients')
      .description('Who got a mail')
      .argument('<email-id>')
      .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
      .option('--limit <n>', 'how many at most', wholeNumber(), 50),
  ).action(perform(recipients));
  withJson(
    MarketingEmailRecordFields,
    emails.command('cancel').description('Stop a mail: recipients who still wait for it get nothing').argument('<email-id>'),
  ).action(perform(cancel));
}

async function list(world: CommandWorld, { options: { limit } }: Typed<ListOptions>): Promise<void> {
  const client = await world.connect();
  const pages = client.emails.list({ limit: Math.min(limit, MAX_PAGE) }, { signal: world.signal });
  printList(world, await take<MarketingEmailRecord>(pages, limit), EMAIL_COLUMNS);
}

async function get(world: CommandWorld, { args: [emailId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.emails.get(emailId, { signal: world.signal }), EMAIL_LINES);
}

async function recipients(world: CommandWorld, { args: [emailId = ''], options: { state, limit } }: Typed<ListOptions>): Promise<void> {
  const client = await world.connect();
  const pages = client.emails.recipients(emailId, { state, limit: Math.min(limit, MAX_PAGE) }, { signal: world.signal });
  printList(world, await take<MarketingEmailRecipient>(pages, limit), RECIPIENT_COLUMNS);
}

async function cancel(world: CommandWorld, { args: [emailId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  printRecord(world, await client.emails.cancel(emailId, { signal: world.signal }), EMAIL_LINES);
}

async function take<T>(items: AsyncIterable<T>, limit: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === limit) break;
  }
  return taken;
}
