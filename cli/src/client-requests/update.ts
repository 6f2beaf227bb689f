import type { ClientRequestStatus, ClientRequestType, MarketingClientRequestRecord } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MarketingClientRequestRecordFields } from '../generated/fields.ts';
import { nullIfNone, type OrNone, orNone } from '../option-values.ts';
import { type Column, printRecord } from '../print.ts';

interface Options {
  readonly status?: ClientRequestStatus;
  readonly type?: ClientRequestType;
  readonly owner?: OrNone<string>;
  readonly note?: string;
}

const LINES: readonly Column<MarketingClientRequestRecord>[] = [
  { title: 'id', of: ({ request_id }) => request_id },
  { title: 'type', of: ({ type }) => type },
  { title: 'status', of: ({ status }) => status },
  { title: 'owner', of: ({ owner }) => owner },
  { title: 'from', of: ({ name, email }) => `${name} <${email}>` },
  { title: 'last note', of: ({ history }) => history.find(({ note }) => note !== null)?.note },
];

export const updateRequest = (requests: Command, perform: Perform): Command =>
  withJson(
    MarketingClientRequestRecordFields,
    requests
      .command('update')
      .description('Assign a request or change it; what is not named stays')
      .argument('<id>', 'its id')
      .option('--status <status>', 'in_progress, waiting, done or declined')
      .option('--type <type>', 'another type')
      .option(
        '--owner <id>',
        'the id of the user it is assigned to; `none` unassigns it',
        orNone('none', (text) => text),
      )
      .option('--note <text>', 'for the team'),
  ).action(perform(update));

async function update(world: CommandWorld, { args: [id = ''], options }: Typed<Options>): Promise<void> {
  const request = { ...options, owner: nullIfNone(options.owner) };
  if (Object.values(request).every((value) => value === undefined))
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, '`tallygate requests update --help` lists what can be.');
  const client = await world.connect('session');
  printRecord(world, await client.clientRequests.update(id, request, { signal: world.signal }), LINES);
}
