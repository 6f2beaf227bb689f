import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyBudgetStatusResponseFields } from '../generated/fields.ts';
import { KEY_ARGUMENT, meantKey } from '../keys/meant.ts';
import { showBudget } from './show.ts';

export const clearBudget = (budgets: Command, perform: Perform): Command =>
  withJson(
    KeyBudgetStatusResponseFields,
    budgets
      .command('clear')
      .description('Remove the cap of a key')
      .argument(...KEY_ARGUMENT),
  ).action(perform(clear));

async function clear(world: CommandWorld, { args: [text = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  const { keyId } = await meantKey(world, client, text);
  showBudget(world, await client.budgets.clear(keyId, { signal: world.signal }));
}
