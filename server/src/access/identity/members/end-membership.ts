import type { EntityManager } from '@mikro-orm/postgresql';
import { type Actor, type Origin, recordAudit } from '../../../audit/index.ts';
import { forgetUser } from '../../../community/people/index.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { forgetLogins } from '../forget-logins.ts';
import type { OnAccountClosed } from '../on-account-closed.ts';
import { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { lockMembers, withdrawBeyondRole } from './authority.ts';

/** What other slices do when a member leaves an account, in the same transaction. */
export type OnMemberRemoved = (
  db: Parameters<OnAccountClosed>[0],
  removed: Parameters<OnAccountClosed>[1] & { readonly userId: string },
) => Promise<void>;

interface Leaving {
  readonly user: User;
  readonly at: Date;
  readonly actor: Actor;
  readonly origin: Origin;
}

/** Ends what somebody can do in an account: sessions, API keys, and the invitations that they sent. The user is locked. */
export async function endMembership(
  unit: EntityManager,
  onMemberRemoved: OnMemberRemoved,
  { user, at, actor, origin }: Leaving,
): Promise<void> {
  const db = inUnit(unit);
  const accountId = user.account.id;
  await recordAudit(db, {
    ...{ accountId, actor, action: 'member.removed', origin },
    target: { kind: 'user', id: user.id },
    changes: { email: user.email, account_role: user.accountRole },
  });
  await forgetLogins(unit, user, at);
  await withdrawBeyondRole(unit, [user.id], undefined);
  user.leave(at);
  await unit.flush();
  await forgetUser(db, user.id, at);
  await onMemberRemoved(db, { accountId, userId: user.id, at, actor, origin });
}

/** Whoever is in the account beside its owner, who has proven the address only now: somebody else may have let them in, and taken the role. */
export async function endOtherMemberships(
  unit: EntityManager,
  onMemberRemoved: OnMemberRemoved,
  { user, ...leaving }: Omit<Leaving, 'actor'>,
): Promise<void> {
  await lockMembers(unit, user.account.id);
  user.accountRole = 'owner';
  const others = await unit.find(User, { account: user.account, closedAt: null, id: { $ne: user.id } }, { orderBy: { id: 'asc' } });
  for (const { id } of others) {
    const other = await lockUser(unit, id);
    if (other) await endMembership(unit, onMemberRemoved, { user: other, actor: { kind: 'user', id: user.id }, ...leaving });
  }
  await inUnit(unit).query('delete from member_invitations where account_id = $1', [user.account.id]);
}
