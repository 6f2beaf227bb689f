import { DirectoryGroups, DirectoryUsers, isDeactivated } from '../access/directory/index.ts';
import { type Identity, SignIns } from '../access/identity/index.ts';
import { openIdDirectory } from '../adapters/directory/openid.ts';
import { Problem } from '../kernel/problem.ts';
import type { Config } from './config.ts';
import type { Foundation } from './foundation.ts';
import { SIGN_IN_RETURN } from './http/sign-in-api.ts';

interface DirectoryDeps {
  readonly identity: Identity;
  readonly publicUrl: () => string;
}

/** The company's directory: its users and groups by SCIM, and sign-in with it, undefined where that is not configured. */
export function openDirectory(foundation: Foundation, { identity, publicUrl }: DirectoryDeps) {
  const { config, em, clock } = foundation;
  const accountId = () => directoryAccount(config, identity.users);
  return {
    users: new DirectoryUsers({ em, clock, identity }),
    groups: new DirectoryGroups({ em, clock, identity }),
    accountId,
    signIns: openSignIns(foundation, { identity, accountId, publicUrl }),
  };
}

function openSignIns(
  foundation: Foundation,
  { identity, accountId, publicUrl }: DirectoryDeps & { readonly accountId: () => Promise<string> },
): SignIns | undefined {
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

/**
 * Whose members the directory names. It is never the account of somebody who became an administrator later, so where there are more the operator says.
 * @throws Problem `forbidden`
 */
async function directoryAccount({ directory }: Config, users: Identity['users']): Promise<string> {
  if (directory.accountId !== undefined) return directory.accountId;
  const [accountId, ...others] = await users.accountsOfAdministrators();
  if (accountId !== undefined && others.length === 0) return accountId;
  throw new Problem(
    'forbidden',
    'The operator has to say by DIRECTORY_ACCOUNT_ID whose members the directory names: administrators are of several accounts, or of none.',
  );
}
