import { DirectoryGroups, DirectoryUsers, isDeactivated } from '../access/directory/index.ts';
import { type Identity, type SignedInMember, SignIns } from '../access/identity/index.ts';
import { revokeKeysInProject } from '../access/keys/index.ts';
import { giveProjects, mostOf, projectsNamed } from '../access/projects/index.ts';
import { openIdDirectory } from '../adapters/directory/openid.ts';
import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import type { Queryable } from '../kernel/statements.ts';
import type { Config } from './config.ts';
import type { ProjectOfGroup } from './directory-config.ts';
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
  const deps = { em, clock, identity, giveProjects: giveProjects(revokeKeysInProject) };
  return {
    users: new DirectoryUsers(deps),
    groups: new DirectoryGroups(deps),
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
  const { issuer, clientId, clientSecret, scopes, groupsClaim, name, rules, projects } = given;
  const directory = openIdDirectory({
    ...{ issuer, clientId, clientSecret, scopes, groupsClaim },
    redirectUri: () => `${publicUrl()}${SIGN_IN_RETURN}`,
    afterLogout: () => `${publicUrl()}/`,
  });
  return new SignIns(
    { directory, name, issuer, rules, accountId, isDeactivated, giveProjects: projectsAtSignIn(projects, log) },
    { em, clock, log, sessions: identity.sessions, throttle: identity.throttle, planOf: identity.planOf },
  );
}

/** At a sign-in the groups decide about the projects that `OIDC_PROJECTS` gives, as they do about roles. */
const projectsAtSignIn =
  (given: readonly ProjectOfGroup[], log: Log) =>
  async (db: Queryable, { accountId, userId, groups, origin, at }: SignedInMember): Promise<void> => {
    const idOf = await projectsNamed(
      db,
      accountId,
      given.map(({ project }) => project),
    );
    const missing = given.filter(({ project }) => !idOf.has(project)).map(({ project }) => project);
    if (missing.length > 0) log.warn({ projects: missing }, 'OIDC_PROJECTS names projects that the account does not have');
    const theirs = given.flatMap(({ group, project, role }) => {
      const id = idOf.get(project);
      return id !== undefined && groups.includes(group) ? [{ id, role }] : [];
    });
    const roles = [...Map.groupBy(theirs, ({ id }) => id)].map(([id, all]) => [id, mostOf(all.map(({ role }) => role))] as const);
    const by = { at, origin, actor: { kind: 'user', id: userId } } as const;
    await giveProjects(revokeKeysInProject)(db, { accountId, directory: 'sign_in', wanted: new Map([[userId, new Map(roles)]]), ...by });
  };

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
