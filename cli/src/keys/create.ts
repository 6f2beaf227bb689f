import type { Scope } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, listOf, type Perform, type Typed, usdAmount, withJson } from '../command.ts';
import { CREATED_KEY_FIELDS, showSecret } from './show-secret.ts';

interface Options {
  readonly name: string;
  readonly test?: true;
  readonly cap?: string;
  readonly scopes?: Scope[];
  readonly expires?: string;
}

export const createKey = (keys: Command, perform: Perform): Command =>
  withJson(
    CREATED_KEY_FIELDS,
    keys
      .command('create')
      .description('Create an API key; needs a login')
      .requiredOption('--name <name>', 'name, for people')
      .option('--test', 'a test key: sandbox provider only, never billed')
      .option('--cap <usd>', 'hard monthly cap, USD', usdAmount)
      .option('--scopes <list>', 'what it may do, comma-separated', listOf)
      .option('--expires <time>', 'when it stops working, such as 2027-01-01T00:00:00Z'),
  ).action(perform(create));

async function create(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { name, test, cap, scopes, expires } = options;
  const client = await world.connect('session');
  const created = await client.keys.create(
    { name, livemode: !test, monthly_cap_usd: cap, scopes, expires_at: expires },
    { signal: world.signal },
  );
  showSecret(world, created, `Created "${created.name}" (${created.key_id}).`);
}
