import * as z from 'zod';

export const SCOPES = [
  'inference',
  'account:read',
  'account:write',
  'keys:write',
  'billing:write',
  'audit:read',
  'marketing:read',
  'marketing:write',
  'events:read',
  'events:write',
  'admin:read',
  'admin:write',
] as const;
export const Scope = z.enum(SCOPES).meta({ id: 'Scope', description: 'What an API key may do.' });
export type Scope = z.infer<typeof Scope>;

/** What a new API key may do unless its maker asks for more. */
export const DEFAULT_SCOPES: readonly Scope[] = ['inference'];

/** The role that the owner of an API key needs for a scope: these open other people's data, or the service itself. */
export const SCOPE_ROLES: Readonly<Partial<Record<Scope, 'marketing' | 'admin'>>> = {
  'marketing:read': 'marketing',
  'marketing:write': 'marketing',
  'events:read': 'admin',
  'events:write': 'admin',
  'admin:read': 'admin',
  'admin:write': 'admin',
};

/** The scopes that an API key of an owner with this role can have. */
export const scopesOfRole = (role: 'member' | 'marketing' | 'admin'): Scope[] =>
  SCOPES.filter((scope) => SCOPE_ROLES[scope] === undefined || SCOPE_ROLES[scope] === role || role === 'admin');

export const ACCOUNT_ROLES = ['owner', 'admin', 'billing', 'developer', 'viewer'] as const;
type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** What groups of a directory can make of people: owners are made by people. */
export const ACCOUNT_ROLES_OF_GROUPS = ['admin', 'billing', 'developer', 'viewer'] as const;

/** Of one's own login, whatever the role: its second factor. */
const PERSONAL: readonly Scope[] = ['account:write'];
const OF_ACCOUNT_ROLE: Readonly<Record<Exclude<AccountRole, 'owner' | 'admin'>, readonly Scope[]>> = {
  billing: [...PERSONAL, 'account:read', 'billing:write', 'audit:read'],
  developer: [...PERSONAL, 'account:read', 'inference', 'keys:write'],
  viewer: [...PERSONAL, 'account:read'],
};

/** What a member of an account may do in it; what the service's own roles are needed for is not decided by it. */
export const accountRoleAllows = (role: AccountRole, scope: Scope): boolean =>
  role === 'owner' || role === 'admin' || SCOPE_ROLES[scope] !== undefined || OF_ACCOUNT_ROLE[role].includes(scope);

/** What a management key may be given. None of them runs a model, and none is of a person’s own login. */
export const MANAGEMENT_SCOPES = [
  'account:read',
  'keys:write',
  'projects:write',
  'members:read',
  'members:write',
  'limits:write',
  'webhooks:write',
  'scim',
  'billing:write',
  'audit:read',
  'marketing:read',
  'marketing:write',
  'events:read',
  'events:write',
  'admin:read',
  'admin:write',
] as const;
export const ManagementScope = z.enum(MANAGEMENT_SCOPES).meta({ id: 'ManagementScope', description: 'What a management key may do.' });
export type ManagementScope = z.infer<typeof ManagementScope>;

const isManagementScope = (scope: Scope): scope is Scope & ManagementScope => MANAGEMENT_SCOPES.some((one) => one === scope);

/** The scope by which a management key is let in; undefined for what no management key does. */
export function managementScopeOf({
  manage,
  scope,
}: {
  readonly manage?: ManagementScope;
  readonly scope?: Scope;
}): ManagementScope | undefined {
  return manage ?? (scope && isManagementScope(scope) ? scope : undefined);
}
