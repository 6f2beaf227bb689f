import { accountRoleAllows } from '@tallygate/contract';
import type { Users } from '../../access/identity/index.ts';
import type { KeyGrant } from '../../access/keys/index.ts';
import type { ModelCaller } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SpendingReader } from '../../money/limits/index.ts';
import type { PlanBook } from '../../money/plans/index.ts';
import type { Caller } from './call-context.ts';

/** Who asked for work that goes on without their request, as it was written down then. */
interface Creator {
  readonly accountId: string;
  readonly livemode: boolean;
  /** Null: somebody who was signed in. */
  readonly keyId: string | null;
  /** Null where only the key was written down. */
  readonly userId: string | null;
  readonly sessionId: string | null;
}

/**
 * The same person, as they stand now. `ended`: the key is revoked or has expired, the member has left, or neither their role nor the scopes of
 * the key open models any more; the caller is then good for settling what was begun, and for nothing else. `gone`: so is the account.
 */
export interface CallerStatus {
  readonly state: 'good' | 'ended' | 'gone';
  readonly caller: Caller;
}

export type StandingOf = (creator: Creator) => Promise<CallerStatus>;

interface StandingDeps {
  readonly grantOfKey: (keyId: string, now: Date) => Promise<KeyGrant | undefined>;
  readonly users: Pick<Users, 'ownerOf' | 'anyoneIn'>;
  readonly spendingOf: SpendingReader;
  readonly plans: Pick<PlanBook, 'standard'>;
  readonly clock: Clock;
}

/** A key has to be good still. Of a session it is its user: a user who has logged out still gets what was asked for. */
export function createCallerStatusOf({ grantOfKey, users, spendingOf, plans, clock }: StandingDeps): StandingOf {
  return async ({ accountId, livemode, keyId, userId, sessionId }) => {
    const grant = keyId === null ? undefined : await grantOfKey(keyId, new Date(clock.now()));
    if (grant) return { state: mayRunModels(grant.principal) ? 'good' : 'ended', caller: grant };
    const owner = userId === null ? undefined : await users.ownerOf(userId);
    const account = owner ?? (await users.anyoneIn(accountId));
    const who = { accountId, userId: userId ?? '', role: owner?.role ?? 'member', accountRole: owner?.accountRole ?? 'viewer' } as const;
    const [plan, monthlyCap] = [account?.plan ?? plans.standard.id, null];
    if (keyId === null) {
      const spending = await spendingOf(accountId);
      const principal = { kind: 'session', sessionId: sessionId ?? '', ...who } as const;
      const caller: Caller = { principal, plan, monthlyCap, ...(spending && { spending }) };
      return { state: !account ? 'gone' : mayRunModels(principal) ? 'good' : 'ended', caller };
    }
    const principal = { kind: 'key', keyId, scopes: new Set<never>(), livemode, ...who } as const;
    return { state: account ? 'ended' : 'gone', caller: { principal, plan, monthlyCap } };
  };
}

/** As when a request is let in. */
const mayRunModels = (principal: ModelCaller): boolean =>
  (principal.kind === 'session' || principal.scopes.has('inference')) && accountRoleAllows(principal.accountRole ?? 'owner', 'inference');
