import type { EntityManager } from '@mikro-orm/postgresql';
import type { SpendingReader } from '../../money/limits/index.ts';
import type { Users } from '../identity/index.ts';
import { ApiKey } from './api-key.ts';
import type { KnownKey, ReadKey } from './cached-key-directory.ts';
import type { KeyGrant } from './key-directory.ts';
import { limitsOf } from './key-limits.ts';
import { statusOf, verifiableKey } from './key-verification.ts';

interface ReadKeyDeps {
  readonly spendingOf: SpendingReader;
  readonly em: EntityManager;
  readonly users: Pick<Users, 'ownerOf'>;
}

/** Reads a key with the role and the plan of its owner as they are now: a key never carries more than its owner. */
export const createReadKey =
  (deps: ReadKeyDeps): ReadKey =>
  (lookupId) =>
    read({ lookupId }, deps);

/** What a key that is known by its id may do at that moment; undefined once it is revoked or expired, or its owner is gone. */
export const createGrantOfKey =
  (deps: ReadKeyDeps) =>
  async (keyId: string, now: Date): Promise<KeyGrant | undefined> => {
    const known = await read({ id: keyId }, deps);
    return known && statusOf(known.key, now) === 'active' ? known.grant : undefined;
  };

async function read(where: { lookupId: string } | { id: string }, { em, users, spendingOf }: ReadKeyDeps): Promise<KnownKey | undefined> {
  const key = await em.fork().findOne(ApiKey, where);
  const owner = key && (await users.ownerOf(key.userId));
  if (!key || !owner) return undefined;
  const { id: keyId, accountId, userId, livemode, scopes, monthlyCap, projectId } = key;
  const spending = await spendingOf(accountId);
  return {
    key: verifiableKey(key),
    grant: {
      principal: {
        kind: 'key',
        keyId,
        accountId,
        userId,
        role: owner.role,
        accountRole: owner.accountRole,
        scopes: new Set(scopes),
        livemode,
      },
      monthlyCap: monthlyCap ?? null,
      plan: owner.plan,
      ...(projectId && { projectId }),
      ...(spending && { spending }),
      ...(owner.dedicated && { dedicated: owner.dedicated }),
      ...limitsOf(key),
    },
  };
}
