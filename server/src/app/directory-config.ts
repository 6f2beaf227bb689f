import { ACCOUNT_ROLES_OF_GROUPS, ProjectRole } from '@tallygate/contract';
import * as z from 'zod';
import type { RoleRules } from '../access/identity/index.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';

const Role = z.enum(ACCOUNT_ROLES_OF_GROUPS);

/** `group=role`, by commas; names of groups may have equals signs. */
const roles = z
  .string()
  .transform((text) => text.split(',').map((pair) => /^\s*(.+)=(\w+)\s*$/.exec(pair)?.slice(1)))
  .refine(
    (pairs) => pairs.every((pair) => Role.safeParse(pair?.[1]).success),
    `Expected group=role by commas, with the roles ${Role.options.join(', ')}`,
  )
  .transform((pairs) => pairs.map((pair) => ({ group: String(pair?.[0]), role: Role.parse(pair?.[1]) })));

/** `group=project`, or `group=project:admin`, by commas; a project by its id or `external_id`. */
const projects = z
  .string()
  .transform((text) => text.split(',').map((pair) => /^\s*(.+)=([^=:\s]+)(?::(admin|member))?\s*$/.exec(pair)?.slice(1)))
  .refine((pairs) => pairs.every((pair) => pair !== undefined), 'Expected group=project or group=project:admin by commas')
  .transform((pairs) =>
    pairs.map((pair) => ({ group: String(pair?.[0]), project: String(pair?.[1]), role: ProjectRole.parse(pair?.[2] ?? 'member') })),
  );

export const DIRECTORY_VARIABLES = {
  OIDC_ISSUER: httpUrl.optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  OIDC_NAME: z.string().trim().min(1).max(80).default('your company'),
  OIDC_SCOPES: z.string().min(1).default('openid email profile'),
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups'),
  OIDC_ROLES: roles.optional(),
  OIDC_DEFAULT_ROLE: Role.optional(),
  OIDC_PROJECTS: projects.optional(),
  DIRECTORY_ACCOUNT_ID: z.uuid().optional(),
};

/** The company's directory. */
export interface DirectoryConfig {
  /** Whose members it names, by sign-in and by SCIM; undefined: the one account that the administrators of the gateway are in. */
  readonly accountId: string | undefined;
  /** Where people sign in; undefined: with a password alone. */
  readonly openId: OpenIdConfig | undefined;
}

interface OpenIdConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly rules: RoleRules;
  /** What groups are members of, in projects by their id or `external_id`. */
  readonly projects: readonly ProjectOfGroup[];
}

export interface ProjectOfGroup {
  readonly group: string;
  readonly project: string;
  readonly role: ProjectRole;
}

const Given = z.object(DIRECTORY_VARIABLES);

/** @throws ConfigError */
export const directoryOf = (given: z.infer<typeof Given>): DirectoryConfig => ({
  accountId: given.DIRECTORY_ACCOUNT_ID,
  openId: openIdOf(given),
});

function openIdOf(given: z.infer<typeof Given>): OpenIdConfig | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: ofGroups } = given;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined) throw new ConfigError(['OIDC_ISSUER and OIDC_CLIENT_ID are set together.']);
  return {
    ...{ issuer, clientId, clientSecret: given.OIDC_CLIENT_SECRET, name: given.OIDC_NAME },
    ...{ scopes: given.OIDC_SCOPES, groupsClaim: given.OIDC_GROUPS_CLAIM },
    // Where groups decide, who is in none of them is nobody here, unless it is said otherwise.
    rules: { roles: ofGroups ?? [], defaultRole: given.OIDC_DEFAULT_ROLE ?? (ofGroups ? null : 'developer') },
    projects: given.OIDC_PROJECTS ?? [],
  };
}
