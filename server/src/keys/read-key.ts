import type { EntityManager } from '@mikro-orm/postgresql';
import type { Users } from '../identity/index.ts';
import { ApiKey } from './api-key.ts';
import type { ReadKey } from './cached-key-directory.ts';
import { limitsOf } from './key-limits.ts';
import { lockOf } from './key-lock.ts';

/** Reads a key with the role and the plan of its owner as they are now: a key never carries more than its owner. */
export function createReadKey({ em, users }: { em: EntityManager; users: Pick<Users, 'ownerOf'> }): ReadKey {
  return async (lookupId) => {
    const key = await em.fork().findOne(ApiKey, { lookupId });
    const owner = key && (await users.ownerOf(key.userId));
    if (!key || !owner) return undefined;
    const { id: keyId, accountId, userId, livemode, scopes, monthlyCap } = key;
    return {
      key: lockOf(key),
      grant: {
        principal: { kind: 'key', keyId, accountId, userId, role: owner.role, scopes: new Set(scopes), livemode },
        monthlyCap: monthlyCap ?? null,
        plan: owner.plan,
        ...limitsOf(key),
      },
    };
  };
}
