import type { DiscoveryReport } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { type Column, printList } from '../print.ts';

type Provider = DiscoveryReport['providers'][number];

const COLUMNS: readonly Column<Provider>[] = [
  { title: 'provider', of: ({ provider }) => provider },
  { title: 'models', of: ({ found }) => found.length, align: 'right' },
  { title: 'without price', of: ({ without_price }) => without_price.join(', ') || undefined },
  { title: 'error', of: ({ error }) => error },
];

export const discoverModels = (models: Command, perform: Perform): Command =>
  withJson(
    ['provider', 'found', 'without_price', 'error'],
    models.command('discover').description('Ask the providers which models they serve; for administrators'),
  ).action(perform(discover));

async function discover(world: CommandWorld, _: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const { providers } = await client.models.discover({ signal: world.signal });
  printList(world, providers, COLUMNS);
}
