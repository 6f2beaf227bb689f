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

/** The same as it is in the file: the token is there, or in the keyring under its own name. */
export type KeptLogin = Omit<Login, 'session_token'> &
  ({ readonly session_token: string; readonly keyring_entry?: never } | { readonly keyring_entry: string; readonly session_token?: never });

type Logins = Readonly<Record<string, KeptLogin>>;

type CredentialsWorld = Pick<World, 'env' | 'err' | 'keyring' | 'readPrivateFile' | 'writeFile'>;
type FilesWorld = Pick<World, 'env'>;

export const credentialsPath = ({ env }: FilesWorld): string => join(env.configDirectory, 'credentials.json');

/** Where a profile's copy of the gateway's public receipt keys lies. */
export const keySetPath = ({ env }: FilesWorld, profile: string): string => join(env.configDirectory, `${profile}.vaas-keys.json`);

/** The file with the witnesses that have to cosign the log of the profile's gateway. */
export const witnessPolicyPath = ({ env }: FilesWorld, profile: string): string => join(env.configDirectory, `${profile}.witnesses`);

/** Where the prices lie that the profile's gateway has published. */
export const keptPricesPath = ({ env }: FilesWorld, profile: string): string => join(env.configDirectory, `${profile}.prices.json`);

export async function readLogin(world: CredentialsWorld, profile: string): Promise<Login | undefined> {
  const kept = await readKeptLogin(world, profile);
  if (kept === undefined) return undefined;
  const { keyring_entry: entry, session_token, ...login } = kept;
  if (entry === undefined) return { ...login, session_token };
  const token = await world.keyring?.read(entry);
  if (token !== undefined) return { ...login, session_token: token };
  throw new Failure(
    'keyring_unavailable',
    `The session of profile "${profile}" is in the keyring, which does not give it out.`,
    EXIT.authenticationNeeded,
    'Unlock the keyring, or log in again: `tallygate login`, with `--no-keyring` to keep the session in a file.',
  );
}

/** The content of the file, for commands that need no token. */
export async function readKeptLogin(world: CredentialsWorld, profile: string): Promise<KeptLogin | undefined> {
  const logins = await readLogins(world);
  return Object.hasOwn(logins, profile) ? logins[profile] : undefined;
}

/** Stores the token in the keyring if possible, else in the file. @returns where it is stored */
export async function saveLogin(
  world: CredentialsWorld,
  profile: string,
  { session_token, ...login }: Login,
  { usesKeyring = true }: { readonly usesKeyring?: boolean } = {},
): Promise<'keyring' | 'file'> {
  const logins = await readLogins(world);
  await removeEntry(world, Object.hasOwn(logins, profile) ? logins[profile] : undefined);
  const entry = crypto.randomUUID();
  const isInKeyring = usesKeyring && ((await world.keyring?.write(entry, session_token)) ?? false);
  await writeLogins(world, { ...logins, [profile]: { ...login, ...(isInKeyring ? { keyring_entry: entry } : { session_token }) } });
  return isInKeyring ? 'keyring' : 'file';
}

export async function forgetLogin(world: CredentialsWorld, profile: string): Promise<void> {
  const { [profile]: forgotten, ...others } = await readLogins(world);
  await removeEntry(world, forgotten);
  await writeLogins(world, others);
}

async function removeEntry({ keyring }: CredentialsWorld, login: KeptLogin | undefined): Promise<void> {
  if (login?.keyring_entry !== undefined) await keyring?.remove(login.keyring_entry);
}

/** Every stored login, by profile. If other users could read the file (after a restored backup, for example), its mode is corrected and a warning is printed. */
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
