import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { plainText } from '../print.ts';
import { KEY_ARGUMENT, meantKey } from './meant.ts';

export const revokeKey = (keys: Command, perform: Perform): Command =>
  keys
    .command('revoke')
    .description('Revoke an API key, permanently and within a second')
    .argument(...KEY_ARGUMENT)
    .option('--yes', 'do not ask')
    .action(perform(revoke));

async function revoke(world: CommandWorld, { args: [text = ''], options: { yes } }: Typed<{ yes?: true }>): Promise<void> {
  const client = await world.connect('session');
  const { keyId, label } = await meantKey(world, client, text);
  if (!yes) await mustBeMeant(world, label);
  await client.keys.revoke(keyId, { signal: world.signal });
  world.err.write(plainText(`Revoked ${label}.\n`));
}

/** A revocation cannot be undone, so a person is asked for confirmation; a script is not. @throws Failure if the answer is no */
async function mustBeMeant({ input }: CommandWorld, label: string): Promise<void> {
  if (!input.isTty) return;
  const reply = await input.ask(plainText(`Revoke ${label} permanently? [y/N] `));
  if (!/^y(es)?$/i.test(reply)) throw new Failure('not_confirmed', 'Nothing was changed.', EXIT.failure);
}
