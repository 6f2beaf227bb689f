import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { plainText } from '../print.ts';

export const revokeInvites = (invites: Command, perform: Perform): Command =>
  invites
    .command('revoke')
    .description('End a batch, or one invitation of it; what was activated stays. For administrators')
    .argument('<batch>', 'the id of the batch')
    .argument('[invite]', 'the id of one invitation')
    .action(perform(revoke));

async function revoke(world: CommandWorld, { args: [batchId = '', inviteId] }: Typed<object>): Promise<void> {
  const client = await world.connect('session');
  if (inviteId === undefined) await client.invites.revokeBatch(batchId, { signal: world.signal });
  else await client.invites.revoke(batchId, inviteId, { signal: world.signal });
  world.err.write(plainText(`Revoked ${inviteId ?? batchId}.\n`));
}
