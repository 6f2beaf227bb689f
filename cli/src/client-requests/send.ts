import type { ClientRequestType } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { readText } from '../given-file.ts';
import { printRecord } from '../print.ts';

interface Options {
  readonly type: ClientRequestType;
  readonly name: string;
  readonly email: string;
  readonly company?: string;
  readonly news?: boolean;
}

export const sendRequest = (requests: Command, perform: Perform): Command =>
  withJson(
    ['request_id', 'type', 'received_at'],
    requests
      .command('send')
      .description('Send the team a request, as the public form does; needs no login')
      .argument('<file>', 'the message; - for stdin')
      .requiredOption('--name <name>', 'who asks')
      .requiredOption('--email <address>', 'where to answer')
      .option('--type <type>', 'sales, enterprise, support, partnership, press or other', 'other')
      .option('--company <name>', 'their company')
      .option('--news', 'consent to news by mail; a mail asks them to confirm it'),
  ).action(perform(send));

async function send(world: CommandWorld, { args: [file = ''], options: { news, ...asked } }: Typed<Options>): Promise<void> {
  const message = (await readText(world, file)).trim();
  const client = await world.connect('none');
  const received = await client.clientRequests.create({ ...asked, message, marketing_consent: news }, { signal: world.signal });
  printRecord(world, received, [{ title: 'id', of: ({ request_id }) => request_id }]);
  world.err.write('The request was sent; a mail confirms it.\n');
}
