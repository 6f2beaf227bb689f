import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyCreatedResponseFields } from '../generated/fields.ts';
import { usdAmount } from '../option-values.ts';
import { type SettingsOptions, settingsOf, withSettings } from './settings.ts';
import { showSecret } from './show-secret.ts';

interface Options extends SettingsOptions {
  readonly name: string;
  readonly test?: true;
  readonly cap?: string;
  readonly project?: string;
  readonly externalId?: string;
}

export const createKey = (keys: Command, perform: Perform): Command =>
  withJson(
    KeyCreatedResponseFields,
    withSettings(
      keys
        .command('create')
        .description('Create an API key; needs a login')
        .requiredOption('--name <name>', 'name, for people')
        .option('--test', 'a test key: sandbox provider only, never billed')
        .option('--cap <usd>', 'hard monthly cap, USD', usdAmount)
        .option('--project <id>', 'the project that it belongs to')
        .option('--external-id <id>', 'your own id of it: a repeat answers with the key that has it'),
    ),
  ).action(perform(create));

async function create(world: CommandWorld, { options }: Typed<Options>): Promise<void> {
  const { name, test, cap, project, externalId } = options;
  const { expires_at, ...settings } = await settingsOf(world, options);
  const client = await world.connect('session');
  const created = await client.keys.create(
    {
      name,
      livemode: !test,
      monthly_cap_usd: cap,
      project_id: project,
      external_id: externalId,
      expires_at: expires_at ?? undefined,
      ...settings,
    },
    { signal: world.signal },
  );
  showSecret(world, created, `Created "${created.name}" (${created.key_id}).`);
}
