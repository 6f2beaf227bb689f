import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole } from '@tallygate/contract';
import type { Administrator } from '../../../http/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import { anyOf, inUnit, run } from '../../../kernel/statements.ts';
import { requireLiveSession } from '../sessions.ts';
import { tables } from '../tables.ts';
import { rolesOf } from '../users.ts';

/** Changes of who is in an account wait for each other. */
export const lockMembers = (unit: EntityManager, accountId: string): Promise<unknown> =>
  inUnit(unit).query("select pg_advisory_xact_lock(hashtextextended('members:' || $1, 0))", [accountId]);

/**
 * Before any change of who is in an account. Its last two owners do not remove each other: the
 * caller is judged again behind the lock, since one of the others may have taken their role, or removed them.
 * @returns the caller's role. @throws Problem `forbidden`, `invalid_credentials`
 */
export async function requireAuthority(unit: EntityManager, principal: Administrator, now: Date): Promise<'owner' | 'admin'> {
  const { accountId, userId } = principal;
  await lockMembers(unit, accountId);
  // A management key was read for this request, and is never answered from memory.
  if (principal.kind === 'session') await requireLiveSession(unit, principal.sessionId, now);
  const role = (await rolesOf(unit, userId))?.accountRole;
  if (role !== 'owner' && role !== 'admin')
    throw new Problem('forbidden', 'This is for owners and admins of the account: ask one of them.', { because: `the caller is ${role}` });
  return principal.kind === 'management' ? 'admin' : role;
}

/**
 * An admin neither makes nor changes owners.
 * @throws Problem `forbidden`
 */
export function refuseBeyondOwners(caller: AccountRole, ...roles: AccountRole[]): void {
  if (caller !== 'owner' && roles.includes('owner'))
    throw new Problem('forbidden', 'Only an owner of the account makes, changes or removes owners.');
}

/** Invitations end with the right of their inviter: else somebody who is removed would come back by one. @param role undefined: removed */
export async function withdrawBeyondRole(unit: EntityManager, userIds: readonly string[], role: AccountRole | undefined): Promise<void> {
  if (role === 'owner') return;
  const theirs = tables.deleteFrom('member_invitations').where('invited_by', '=', anyOf(userIds));
  await run(inUnit(unit), role === 'admin' ? theirs.where('account_role', '=', 'owner') : theirs);
}
