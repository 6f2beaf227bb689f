import type { Users } from '../identity/index.ts';
import type { Caller } from '../inference/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { KeyGrant } from '../keys/index.ts';
import type { StoredBatch } from './stored-batch.ts';

export type Creator = Pick<StoredBatch, 'accountId' | 'livemode' | 'keyId' | 'userId' | 'sessionId'>;

/**
 * Whoever created a batch, as they are now. `ended`: the key is revoked or expired; the caller is then good for what was begun, and for
 * nothing else. `gone`: so is the account.
 */
export interface Standing {
  readonly state: 'good' | 'ended' | 'gone';
  readonly caller: Caller;
}

export type CallerOf = (creator: Creator) => Promise<Standing>;

interface CallerDeps {
  readonly grantOfKey: (keyId: string, now: Date) => Promise<KeyGrant | undefined>;
  readonly users: Pick<Users, 'ownerOf'>;
  readonly clock: Clock;
}

/** Nobody is signed in for a day: who may create a batch with a session may have it worked on as long as they have an account. */
export function createCallerOf({ grantOfKey, users, clock }: CallerDeps): CallerOf {
  return async ({ accountId, livemode, keyId, userId, sessionId }) => {
    const owner = await users.ownerOf(userId);
    const who = { accountId, userId, role: owner?.role ?? 'member' } as const;
    const [plan, monthlyCap] = [owner?.plan ?? 'free', null];
    if (keyId === null) {
      const caller: Caller = { principal: { kind: 'session', sessionId: sessionId ?? '', ...who }, plan, monthlyCap };
      return { state: owner ? 'good' : 'gone', caller };
    }
    const caller = owner && (await grantOfKey(keyId, new Date(clock.now())));
    if (caller) return { state: 'good', caller };
    const principal = { kind: 'key', keyId, scopes: new Set<never>(), livemode, ...who } as const;
    return { state: owner ? 'ended' : 'gone', caller: { principal, plan, monthlyCap } };
  };
}
