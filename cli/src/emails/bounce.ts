import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { MarketingEmailBounceResponseFields } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import { printRecord } from '../print.ts';

/** `emails bounce`: for mail servers, which pipe a mail into a command. */
export const takeBounce = (emails: Command, perform: Perform): Command =>
  withJson(
    MarketingEmailBounceResponseFields,
    emails
      .command('bounce')
      .description('Process a bounce report, as the mail server received it (RFC 3464)')
      .argument('[file]', 'the mail; - for stdin', '-'),
  ).action(perform(take));

async function take(world: CommandWorld, { args: [file = '-'] }: Typed<object>): Promise<void> {
  const message = await readText(world, file);
  const client = await world.connect();
  printRecord(world, await client.emails.bounce(message, { signal: world.signal }), [
    { title: 'recipient', of: ({ recipient_id }) => recipient_id },
    { title: 'invitation', of: ({ invite_id }) => invite_id },
    { title: 'kind', of: ({ kind }) => kind },
    { title: 'status', of: ({ status }) => status },
    { title: 'state', of: ({ state }) => state },
    { title: 'changed', of: ({ changed }) => (changed ? 'yes' : 'no') },
  ]);
}
