import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole } from '@tallygate/contract';
import { type Actor, type Origin, recordAudit } from '../../../audit/index.ts';
import { upsertContact } from '../../../community/people/index.ts';
import { newId } from '../../../kernel/ids.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { Account, type PlanOfAccount, planIdOf } from '../account.ts';
import { DIRECTORY_LOGIN } from '../passwords.ts';
import { User } from '../user.ts';
import { findByEmail, lockUser } from '../users.ts';

/** Somebody whom the directory of an account names. */
export interface Provisioned {
  readonly accountId: string;
  readonly email: string;
  readonly name: string | null;
  readonly accountRole: AccountRole;
  readonly planOf: PlanOfAccount;
  readonly actor: Actor;
  readonly origin: Origin;
  readonly at: Date;
}

/**
 * The member with the address; somebody new becomes one, without a password. Nothing proves yet that they read the address.
 * @throws Problem `conflict` for an address of another account
 */
export async function provisionMember(unit: EntityManager, provisioned: Provisioned): Promise<User> {
  const { accountId, email, name, accountRole, planOf, actor, origin, at } = provisioned;
  const known = await findByEmail(unit, email);
  if (known) {
    const user = await lockUser(unit, known.id);
    if (user?.account.id === accountId) return user;
    throw new Problem('conflict', 'The e-mail address belongs to another account of this gateway.', { param: 'email' });
  }
  const account = await unit.findOneOrFail(Account, { id: accountId });
  const user = unit.create(User, {
    ...{ id: newId(), account, email, name, role: 'member' as const, accountRole, passwordHash: DIRECTORY_LOGIN, createdAt: at },
  });
  await unit.flush();
  const db = inUnit(unit);
  await db.query('delete from member_invitations where account_id = $1 and lower(email) = lower($2)', [accountId, email]);
  await upsertContact(db, { email, name, source: 'user', userId: user.id, planTier: planIdOf(planOf, account), at });
  await recordAudit(db, {
    ...{ accountId, actor, action: 'member.joined', origin, changes: { email, account_role: accountRole, by: 'directory' } },
    target: { kind: 'user', id: user.id },
  });
  return user;
}
