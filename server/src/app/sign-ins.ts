import { type Identity, SignIns } from '../access/identity/index.ts';
import { openIdDirectory } from '../adapters/directory/openid.ts';
import type { DirectoryConfig } from './directory-config.ts';
import type { Foundation } from './foundation.ts';
import { SIGN_IN_RETURN } from './http/sign-in-api.ts';

/** Sign-in with the company's directory; undefined where none is configured. */
export function openSignIns({ config, em, clock, log }: Foundation, identity: Identity, publicUrl: () => string): SignIns | undefined {
  const { directory: given } = config;
  if (!given) return undefined;
  const { issuer, clientId, clientSecret, scopes, groupsClaim, name, rules } = given;
  const directory = openIdDirectory({
    ...{ issuer, clientId, clientSecret, scopes, groupsClaim },
    redirectUri: () => `${publicUrl()}${SIGN_IN_RETURN}`,
    afterLogout: () => `${publicUrl()}/`,
  });
  return new SignIns(
    { directory, name, issuer, rules, accountId: () => accountOf(given, identity.users) },
    { em, clock, log, sessions: identity.sessions, throttle: identity.throttle, planOf: identity.planOf },
  );
}

async function accountOf({ accountId }: DirectoryConfig, users: Identity['users']): Promise<string> {
  if (accountId !== undefined) return accountId;
  const first = await users.accountOfFirstAdministrator();
  if (first === undefined) throw new Error('There is no administrator whose account people could join: set OIDC_ACCOUNT_ID');
  return first;
}
