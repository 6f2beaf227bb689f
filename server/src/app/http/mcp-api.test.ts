import { type AccountRole, SCOPES, type Scope } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../../http/index.ts';
import { isOpenTo } from './mcp-api.ts';

const user = { accountId: 'account', userId: 'user', role: 'member' } as const;
const session = (accountRole: AccountRole): Principal => ({ ...user, kind: 'session', sessionId: 'session', accountRole });
const key = (scopes: readonly Scope[], more: { livemode?: boolean; accountRole?: AccountRole } = {}): Principal => ({
  ...{ ...user, kind: 'key', keyId: 'key', livemode: true, scopes: new Set(scopes) },
  ...more,
});
const openTo = (principal: Principal) => OF_TOOLS.filter((scope) => isOpenTo({ principal }, scope));

const OF_TOOLS = ['inference', 'account:read', 'keys:write', 'billing:write'] as const satisfies readonly Scope[];
const OPEN = {
  owner: OF_TOOLS,
  admin: OF_TOOLS,
  billing: ['account:read', 'billing:write'],
  developer: ['inference', 'account:read', 'keys:write'],
  viewer: ['account:read'],
} as const satisfies Record<AccountRole, readonly Scope[]>;

const ROLES: readonly AccountRole[] = ['owner', 'admin', 'billing', 'developer', 'viewer'];

describe('a tool is offered to whom its operation admits', () => {
  test.each(ROLES)('by the role %s in the account, with a session and with a key', (accountRole) => {
    expect(openTo(session(accountRole))).toEqual(OPEN[accountRole]);
    expect(openTo(key(SCOPES, { accountRole }))).toEqual(OPEN[accountRole]);
  });

  test('by the scopes of a key, and by its mode where money moves', () => {
    expect(openTo(key(['account:read']))).toEqual(['account:read']);
    expect(openTo(key(SCOPES, { livemode: false }))).toEqual(['inference', 'account:read', 'keys:write']);
    expect(isOpenTo({ principal: key([]) }, undefined)).toBe(true);
  });
});
