import type { ManagementKey, ManagementScope } from '@tallygate/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { ManagementKeyCreatedFields, ManagementKeyFields, ManagementScopeValues } from '../generated/fields.ts';
import { showSecret } from '../keys/show-secret.ts';
import { listOf, type Moment, moment, repeatedList, secondsUpTo, timeText } from '../option-values.ts';
import { type Column, plainText } from '../print.ts';
import { type PageOptions, printPages, withPages } from '../print-pages.ts';

const COLUMNS: readonly Column<ManagementKey>[] = [
  { title: 'id', of: ({ management_key_id }) => management_key_id },
  { title: 'name', of: ({ name }) => name },
  { title: 'prefix', of: ({ prefix }) => prefix },
  { title: 'state', of: ({ status }) => status },
  { title: 'scopes', of: ({ scopes }) => scopes.join(' '), isSpare: true },
];

interface CreateOptions {
  readonly name: string;
  readonly scopes: ManagementScope[];
  readonly address?: string[];
  readonly expires?: Moment;
}

export function managementKeyCommands(keys: Command, perform: Perform): void {
  withJson(
    ManagementKeyCreatedFields,
    keys
      .command('create')
      .description('Create a management key; needs a login')
      .requiredOption('--name <name>', 'name, for people')
      .requiredOption('--scopes <list>', `what it may do, comma-separated: ${ManagementScopeValues.join(', ')}`, scopes)
      .option('--address <range>', 'the only addresses it works from: 203.0.113.0/24 (repeatable)', repeatedList)
      .option('--expires <time>', 'when it stops working: a time, a day or a duration such as 90d', moment),
  ).action(perform(create));
  withJson(ManagementKeyFields, withPages(keys.command('list').description('List management keys, newest first'))).action(perform(list));
  withJson(
    ManagementKeyCreatedFields,
    keys
      .command('rotate')
      .description('Replace the secret of a management key')
      .argument('<id>', 'id of the key')
      .option('--grace <duration>', 'how long the old secret keeps working: 1h, 7d at most (default: it ends at once)', secondsUpTo('7d')),
  ).action(perform(rotate));
  keys.command('revoke').description('Revoke a management key').argument('<id>', 'id of the key').action(perform(revoke));
}

function scopes(text: string): ManagementScope[] {
  return listOf(text).map((wanted) => {
    const scope = ManagementScopeValues.find((each) => each === wanted);
    if (scope === undefined)
      throw new InvalidArgumentError(`There is no scope "${wanted}". The scopes are ${ManagementScopeValues.join(', ')}.`);
    return scope;
  });
}

async function create(world: CommandWorld, { options }: Typed<CreateOptions>): Promise<void> {
  const { name, scopes: wanted, address, expires } = options;
  const { managementKeys } = await world.connect('session');
  const request = {
    ...{ name, scopes: wanted, allowed_addresses: address ?? null },
    ...(expires !== undefined && { expires_at: timeText(expires, world.now()) }),
  };
  const made = await managementKeys.create(request, { signal: world.signal });
  showSecret(world, made, `Created "${made.name}" (${made.management_key_id}).`);
}

async function list(world: CommandWorld, { options }: Typed<PageOptions>): Promise<void> {
  const { managementKeys } = await world.connect('session');
  await printPages(world, options, { columns: COLUMNS, list: (limit) => managementKeys.list({ limit }, { signal: world.signal }) });
}

async function rotate(world: CommandWorld, { args: [id = ''], options: { grace } }: Typed<{ readonly grace?: number }>): Promise<void> {
  const { managementKeys } = await world.connect('session');
  const request = grace === undefined ? undefined : { grace_seconds: grace };
  const rotated = await managementKeys.rotate(id, request, { signal: world.signal });
  const until = rotated.previous_secret_expires_at;
  const old = until === null ? 'The old secret no longer works.' : `The old secret works until ${until}.`;
  showSecret(world, rotated, `Rotated "${rotated.name}". ${old}`);
}

async function revoke(world: CommandWorld, { args: [id = ''] }: Typed<object>): Promise<void> {
  const { managementKeys } = await world.connect('session');
  await managementKeys.revoke(id, { signal: world.signal });
  world.err.write(plainText(`Revoked ${id}.\n`));
}
