import { isDeactivated } from '../access/directory/index.ts';
import { type Identity, SignIns } from '../access/identity/index.ts';
import { openIdDirectory } from '../adapters/directory/openid.ts';
import type { Config } from './config.ts';
import type { Foundation } from './foundation.ts';
import { SIGN_IN_RETURN } from './http/sign-in-api.ts';

interface SignInsDeps {
  readonly identity: Identity;
  /** Whose members the directory names. */
  readonly accountId: () => Promise<string>;
  readonly publicUrl: () => string;
}

/** Sign-in with the company's directory; undefined where none is configured. */
export function openSignIns(foundation: Foundation, { identity, accountId, publicUrl }: SignInsDeps): SignIns | undefined {
  const { config, em, clock, log } = foundation;
  const { openId: given } = config.directory;
  if (!given) return undefined;
  const { issuer, clientId, clientSecret, scopes, groupsClaim, name, rules } = given;
  const directory = openIdDirectory({
    ...{ issuer, clientId, clientSecret, scopes, groupsClaim },
    redirectUri: () => `${publicUrl()}${SIGN_IN_RETURN}`,
    afterLogout: () => `${publicUrl()}/`,
  });
  return new SignIns(
    { directory, name, issuer, rules, accountId, isDeactivated },
    { em, clock, log, sessions: identity.sessions, throttle: identity.throttle, planOf: identity.planOf },
  );
}

/** Whose members the directory names. */
export async function directoryAccount({ directory }: Config, users: Identity['users']): Promise<string> {
  const accountId = directory.accountId ?? (await users.accountOfFirstAdministrator());
  if (accountId === undefined) throw new Error('There is no administrator whose account people could join: set DIRECTORY_ACCOUNT_ID');
  return accountId;
}
