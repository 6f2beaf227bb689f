import { join } from 'node:path';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import type { World } from './world.ts';

/** A signed-in session of one person at one gateway. */
export interface Login {
  readonly base_url: string;
  readonly session_token: string;
  readonly email: string;
  readonly expires_at: string;
}

type Logins = Readonly<Record<string, Login>>;

type CredentialsWorld = Pick<World, 'env' | 'err' | 'readPrivateFile' | 'writeFile'>;

const credentialsPath = ({ env }: CredentialsWorld): string => join(env.configDirectory, 'credentials.json');

/** Where a profile's copy of the gateway's public receipt keys lies. */
export const keySetPath = ({ env }: CredentialsWorld, profile: string): string => join(env.configDirectory, `${profile}.vaas-keys.json`);

/** Where the prices lie that the profile's gateway has published. */
export const keptPricesPath = ({ env }: CredentialsWorld, profile: string): string => join(env.configDirectory, `${profile}.prices.json`);

export async function readLogin(world: CredentialsWorld, profile: string): Promise<Login | undefined> {
  const logins = await readLogins(world);
  return Object.hasOwn(logins, profile) ? logins[profile] : undefined;
}

export async function saveLogin(world: CredentialsWorld, profile: string, login: Login): Promise<void> {
  await writeLogins(world, { ...(await readLogins(world)), [profile]: login });
}

export async function forgetLogin(world: CredentialsWorld, profile: string): Promise<void> {
  const { [profile]: _, ...others } = await readLogins(world);
  await writeLogins(world, others);
}

/** Every kept login, by profile. Session tokens that lay open, after a restored backup say, are closed away and told of. */
export async function readLogins(world: CredentialsWorld): Promise<Logins> {
  const path = credentialsPath(world);
  const file = await world.readPrivateFile(path);
  if (file === undefined) return {};
  const { content, wasExposed } = file;
  if (wasExposed)
    world.err.write(
      `warning: others on this computer could read ${path}; it is yours alone now. If somebody may have, end the sessions: \`tallygate sessions revoke --others\`, then log in again.\n`,
    );
  try {
    const { profiles }: { profiles?: Logins } = JSON.parse(content);
    return profiles ?? {};
  } catch {
    throw new Failure('credentials_unreadable', `${path} is not valid JSON.`, EXIT.failure, 'Delete it and run `tallygate login`.');
  }
}

const writeLogins = (world: CredentialsWorld, profiles: Logins): Promise<void> =>
  world.writeFile(credentialsPath(world), `${JSON.stringify({ profiles }, null, 2)}\n`, { isPrivate: true });
