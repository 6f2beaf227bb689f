import type { ManagementScope, Scope, UserResponse } from '@tallygate/sdk';
import { may } from '../may.ts';

type Who = Pick<UserResponse, 'role' | 'account_role'>;

/** What an API key of this person may do at most; the API decides in the end. */
export const scopesOf = (who: Who): readonly Scope[] => [
  ...(['inference', 'account:read', 'account:write', 'keys:write'] as const),
  ...(may(who, 'manage account') ? (['billing:write', 'audit:read'] as const) : []),
  ...(may(who, 'market') ? (['marketing:read', 'marketing:write'] as const) : []),
  ...(may(who, 'run the gateway') ? (['events:read', 'events:write', 'admin:read', 'admin:write'] as const) : []),
];

/** What a management key of this person may do at most: they are made by those who manage the account. */
export const managementScopesOf = (who: Who): readonly ManagementScope[] => [
  ...(['account:read', 'keys:write', 'projects:write', 'members:read', 'members:write', 'limits:write', 'webhooks:write'] as const),
  ...(['scim', 'billing:write', 'audit:read'] as const),
  ...(may(who, 'market') ? (['marketing:read', 'marketing:write'] as const) : []),
  ...(may(who, 'run the gateway') ? (['events:read', 'events:write', 'admin:read', 'admin:write'] as const) : []),
];
