import type { Users } from '../../identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { KeyGrant } from '../../keys/index.ts';
import type { GrantOf } from './run-background.ts';

interface GrantOfDeps {
  readonly grantOfKey: (keyId: string, now: Date) => Promise<KeyGrant | undefined>;
  readonly users: Pick<Users, 'ownerOf'>;
  readonly clock: Clock;
}

/** A key has to be good still. Of a session it is its user: nobody has to stay signed in to get what they have asked for. */
export const createGrantOf =
  ({ grantOfKey, users, clock }: GrantOfDeps): GrantOf =>
  async ({ accountId, keyId, session }) => {
    if (keyId !== null) return grantOfKey(keyId, new Date(clock.now()));
    const owner = session && (await users.ownerOf(session.userId));
    if (!owner) return undefined;
    const principal = { kind: 'session', sessionId: session.id, userId: session.userId, accountId, role: owner.role } as const;
    return { principal, monthlyCap: null, plan: owner.plan };
  };
