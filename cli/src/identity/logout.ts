import type { Command } from 'commander';
import type { CommandWorld, Perform } from '../command.ts';
import { USER_AGENT } from '../connect.ts';
import { forgetLogin, readKeptLogin, readLogin } from '../credentials.ts';
import { notLoggedIn, reportOf } from '../failure.ts';

export const logout = (command: Command, perform: Perform): Command => command.action(perform(logOut));

/** Deletes the stored session even when the gateway cannot be reached: the user wants it removed from this computer. */
async function logOut(world: CommandWorld): Promise<void> {
  const { err, profile } = world;
  const kept = await readKeptLogin(world, profile);
  if (kept === undefined) throw notLoggedIn('');
  const refusal = await endSession(world).then(() => undefined, reportOf);
  await forgetLogin(world, profile);
  const isOver = refusal === undefined || refusal.status === 401;
  err.write(isOver ? 'Logged out.\n' : `Forgotten here, but ${kept.base_url} may still accept the session: ${refusal.message}\n`);
}

async function endSession(world: CommandWorld): Promise<void> {
  const login = await readLogin(world, world.profile);
  if (login === undefined) return;
  const { Tallygate } = await import('@tallygate/sdk');
  const client = new Tallygate({ apiKey: null, sessionToken: login.session_token, baseUrl: login.base_url, headers: USER_AGENT });
  await client.identity.logout({ signal: world.signal });
}
