import type { AccountRole, Scope } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { createCallerStatusOf } from './caller-status.ts';

type Deps = Parameters<typeof createCallerStatusOf>[0];
type Grant = NonNullable<Awaited<ReturnType<Deps['grantOfKey']>>>;

const ACCOUNT = { role: 'member', accountRole: 'owner', plan: 'pro' } as const;
const ids = { accountId: 'account', userId: 'user' } as const;

interface Present {
  /** The key, where it is usable. */
  readonly scopes?: readonly Scope[];
  /** In the account; undefined: the user has left it. */
  readonly accountRole?: AccountRole | undefined;
  readonly isClosed?: boolean;
}

const statusOf = (keyId: string | null, { scopes, accountRole, isClosed = false }: Present) => {
  const grant = (): Grant | undefined =>
    scopes && {
      principal: {
        ...ids,
        kind: 'key',
        keyId: 'key',
        role: 'member',
        livemode: true,
        scopes: new Set(scopes),
        ...(accountRole && { accountRole }),
      },
      monthlyCap: null,
      plan: 'pro',
    };
  const status = createCallerStatusOf({
    grantOfKey: async () => grant(),
    users: {
      ownerOf: async () => (accountRole ? { ...ACCOUNT, accountRole } : undefined),
      anyoneIn: async () => (isClosed ? undefined : ACCOUNT),
    },
    spendingOf: async () => undefined,
    plans: { standard: { id: 'free' } as Deps['plans']['standard'] },
    clock: { now: () => 0 },
  });
  return status({ ...ids, livemode: true, keyId, sessionId: keyId === null ? 'session' : null });
};

describe('work that goes on without its request goes on', () => {
  test.each([
    { accountRole: 'owner', state: 'good' },
    { accountRole: 'admin', state: 'good' },
    { accountRole: 'developer', state: 'good' },
    { accountRole: 'billing', state: 'ended' },
    { accountRole: 'viewer', state: 'ended' },
  ] as const)('while the role of its member opens models: $accountRole is $state', async ({ accountRole, state }) => {
    expect((await statusOf(null, { accountRole })).state).toBe(state);
    expect((await statusOf('key', { accountRole, scopes: ['inference'] })).state).toBe(state);
  });

  test('while its key has the scope inference, and works', async () => {
    expect((await statusOf('key', { accountRole: 'owner', scopes: ['account:read'] })).state).toBe('ended');
    expect((await statusOf('key', { accountRole: 'owner' })).state).toBe('ended');
  });

  test.each([null, 'key'])('no longer than its member stays, and is settled under the plan of the account (key: %s)', async (keyId) => {
    expect(await statusOf(keyId, {})).toMatchObject({ state: 'ended', caller: { plan: 'pro' } });
    expect((await statusOf(keyId, { isClosed: true })).state).toBe('gone');
  });
});
