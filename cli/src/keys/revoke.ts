import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';

export const revokeKey = (keys: Command, perform: Perform): Command =>
  keys.command('revoke').description('Revoke an API key, for good and within a second').argument('<key-id>').action(perform(revoke));

async function revoke(world: CommandWorld, { args: [keyId = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  await client.keys.revoke(keyId, { signal: world.signal });
  world.err.write(`Revoked ${keyId}.\n`);
}
