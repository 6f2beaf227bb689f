import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';

interface Options {
  readonly others?: true;
}

export const revokeSession = (sessions: Command, perform: Perform): Command =>
  sessions
    .command('revoke')
    .description('End a session at once')
    .argument('[session-id]')
    .option('--others', 'all but this one')
    .action(perform(revoke));

async function revoke(world: CommandWorld, { args: [sessionId], options: { others } }: Typed<Options>): Promise<void> {
  const { err, signal } = world;
  if ((sessionId === undefined) === (others === undefined)) {
    throw new Failure('usage', 'Give the id of a session, or --others.', EXIT.usage, 'Run `tallygate sessions list` for the ids.');
  }
  const client = await world.connect('session');
  if (sessionId !== undefined) {
    await client.sessions.revoke(sessionId, { signal });
    err.write(`Ended ${sessionId}.\n`);
    return;
  }
  const ids: string[] = [];
  for await (const { session_id, current } of client.sessions.list({ limit: 200 }, { signal })) if (!current) ids.push(session_id);
  for (const id of ids) await client.sessions.revoke(id, { signal });
  err.write(ids.length === 1 ? 'Ended 1 session.\n' : `Ended ${ids.length} sessions.\n`);
}
