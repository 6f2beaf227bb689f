import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { KeyResponseFields } from '../generated/fields.ts';
import { showKey } from './get.ts';
import { KEY_ARGUMENT, meantKey } from './meant.ts';
import { type SettingsOptions, settingsOf, withSettings } from './settings.ts';

interface Options extends SettingsOptions {
  readonly name?: string;
}

export const updateKey = (keys: Command, perform: Perform): Command =>
  withJson(
    KeyResponseFields,
    withSettings(
      keys
        .command('update')
        .description('Change an API key; what is not named stays. The cap: `tallygate budgets set`')
        .argument(...KEY_ARGUMENT)
        .option('--name <name>', 'a new name'),
    ),
  ).action(perform(update));

async function update(world: CommandWorld, { args: [text = ''], options }: Typed<Options>): Promise<void> {
  const request = { name: options.name, ...(await settingsOf(world, options)) };
  if (Object.values(request).every((value) => value === undefined)) {
    throw new Failure('usage', 'There is nothing to change.', EXIT.usage, '`tallygate keys update --help` lists what can be.');
  }
  const client = await world.connect('session');
  const { keyId } = await meantKey(world, client, text);
  showKey(world, await client.keys.update(keyId, request, { signal: world.signal }));
}
