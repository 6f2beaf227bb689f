import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole } from '@tallygate/contract';
import type { DirectoryIdentity } from '../../../adapters/directory/port.ts';
import { type Origin, recordAudit } from '../../../audit/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit, type Queryable } from '../../../kernel/statements.ts';
import type { PlanOfAccount } from '../account.ts';
import { lockMembers } from '../members/authority.ts';
import { provisionMember } from '../members/provision.ts';
import { User } from '../user.ts';
import { lockUser } from '../users.ts';

/** What the groups of a person make of them. */
export interface RoleRules {
  /** The first group that the person is in decides, at each sign-in. Empty: people and SCIM decide about members. */
  readonly roles: readonly { readonly group: string; readonly role: AccountRole }[];
  /** For everybody else; null: they are refused. Where no group decides, of new members alone. */
  readonly defaultRole: AccountRole | null;
}

/** Whether the directory of the account has somebody with the address who is not active. */
export type IsDeactivated = (db: Queryable, accountId: string, email: string) => Promise<boolean>;

/** Somebody whom the directory has just signed in. */
export interface Arrival {
  readonly accountId: string;
  readonly issuer: string;
  readonly identity: DirectoryIdentity;
  readonly rules: RoleRules;
  readonly isDeactivated: IsDeactivated;
  readonly planOf: PlanOfAccount;
  readonly origin: Origin;
  readonly at: Date;
}

export const subjectOf = (issuer: string, subject: string): string => `${issuer} ${subject}`;

/**
 * The member who is meant, with the role that their groups give them now; somebody new becomes a member.
 * @throws Problem `forbidden` for groups without a role, and for somebody whom the directory has taken out; `conflict` for an address of another account or of another person
 */
export async function memberFor(unit: EntityManager, arrival: Arrival): Promise<User> {
  const { accountId, identity, issuer, rules } = arrival;
  const role = roleFor(arrival);
  await lockMembers(unit, accountId);
  if (await arrival.isDeactivated(inUnit(unit), accountId, identity.email)) throw new Problem('forbidden', TAKEN_OUT);
  const subject = subjectOf(issuer, identity.subject);
  const known = await unit.findOne(User, { account: accountId, directorySubject: subject, closedAt: null });
  const user =
    (known && (await lockUser(unit, known.id))) ?? (await provisionMember(unit, { ...provisionedBy(arrival), accountRole: role }));
  if (user.directorySubject && user.directorySubject !== subject)
    throw taken('The e-mail address belongs to another person of the directory.');
  user.directorySubject = subject;
  user.name ??= identity.name;
  user.emailVerifiedAt ??= arrival.at;
  // Owners are made and changed by people, so that no group can lock the last of them out.
  if (rules.roles.length > 0 && user.accountRole !== 'owner' && user.accountRole !== role) await changeRole(unit, user, role, arrival);
  await unit.flush();
  return user;
}

const TAKEN_OUT = 'The directory says that you are not active here: ask an admin of the account.';

function roleFor({ identity: { groups }, rules: { roles, defaultRole } }: Arrival): AccountRole {
  const role = roles.find(({ group }) => groups.includes(group))?.role ?? defaultRole;
  if (role === null) throw new Problem('forbidden', 'Your groups in the directory have no role here: ask an admin of the account.');
  return role;
}

const provisionedBy = ({ accountId, identity: { email, name }, planOf, origin, at }: Arrival) => ({
  ...{ accountId, email, name, planOf, origin, at, actor: { kind: 'system', id: null } as const },
});

async function changeRole(unit: EntityManager, user: User, role: AccountRole, { origin }: Arrival): Promise<void> {
  const changes = { account_role: { from: user.accountRole, to: role }, by: 'directory' };
  user.accountRole = role;
  await record(user, 'member.role_changed', changes, { db: inUnit(unit), origin });
}

interface Recording {
  readonly db: ReturnType<typeof inUnit>;
  readonly origin: Origin;
}

const record = (user: User, action: `member.${string}`, changes: Record<string, unknown>, { db, origin }: Recording): Promise<void> =>
  recordAudit(db, {
    ...{ accountId: user.account.id, actor: { kind: 'user', id: user.id }, action, changes, origin },
    target: { kind: 'user', id: user.id },
  });

const taken = (detail: string): Problem => new Problem('conflict', detail, { param: 'email' });
