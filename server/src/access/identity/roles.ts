import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Role } from '@tallygate/contract';
import { type Actor, actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { SessionPrincipal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { notify } from './notices.ts';
import { NO_PASSWORD } from './passwords.ts';
import { User } from './user.ts';
import { findByEmail, lockUser } from './users.ts';

interface Wanted {
  readonly role?: Role | undefined;
  /** Exactly, but for upper and lower case. */
  readonly email?: string | undefined;
}

const USERS = new Keyset({ name: 'users', columns: { id: 'uuid' }, direction: 'desc' });

export interface Roles {
  /** Whoever has not closed their account, the newest first. */
  list(wanted: Wanted & PageQuery): Promise<Page<User>>;
  /**
   * Counts from the next request on: sessions look it up, and a trigger tells the directories of keys. Setting what is set already changes
   * nothing.
   * @throws Problem `not_found`, `forbidden` for one's own role, `conflict` while the address is not confirmed
   */
  set(admin: SessionPrincipal, userId: string, role: Role, origin: Origin): Promise<User>;
}

export function createRoles({ em, clock }: { em: EntityManager; clock: Clock }): Roles {
  return {
    async list({ role, email, ...query }) {
      const [before] = USERS.cursorKey(query.cursor) ?? [];
      const users = await em.fork().find(
        User,
        {
          closedAt: null,
          ...(role && { role }),
          ...(email !== undefined && { [raw('lower(email)')]: raw('lower(?)', [email]) }),
          ...(before !== undefined && { id: { $lt: before } }),
        },
        { populate: ['account'], orderBy: { id: 'desc' }, limit: query.limit + 1 },
      );
      return mapPage(
        USERS.page(
          users.map((user) => ({ user, page_key: [user.id] })),
          query,
        ),
        ({ user }) => user,
      );
    },

    set: (admin, userId, role, origin) =>
      inUnitOfWork(em, async (unit) => {
        // Else the last administrator could be gone by one slip, or by one stolen session.
        if (admin.userId === userId) throw new Problem('forbidden', 'Nobody changes their own role: ask another administrator.');
        await oneRoleChangeAtATime(unit);
        // Two administrators may take the role from each other at once: the second of them has none any more.
        const actor = await unit.findOne(User, { id: admin.userId, closedAt: null });
        if (actor?.role !== 'admin') throw new Problem('forbidden', 'This needs the role admin: ask an administrator.');
        const user = await lockUser(unit, userId);
        if (!user) throw new Problem('not_found', 'There is no such user: GET /v1/admin/users lists them.');
        await change(unit, user, role, { actor: actorOf(admin), origin, now: new Date(clock.now()) });
        return user;
      }),
  };
}

/**
 * How a role is given on the server itself, by whoever can read the database's address: the way back where no administrator is left.
 * @returns undefined when nobody has this address
 * @throws Problem `conflict` while the address is not confirmed, and for the last administrator
 */
export const setRoleByOperator = (
  { em, clock }: { em: EntityManager; clock: Clock },
  email: string,
  role: Role,
): Promise<{ readonly before: Role } | undefined> =>
  inUnitOfWork(em, async (unit) => {
    await oneRoleChangeAtATime(unit);
    const found = await findByEmail(unit, email);
    const user = found && (await lockUser(unit, found.id));
    if (!user) return undefined;
    const before = user.role;
    await change(unit, user, role, { actor: { kind: 'system', id: null }, now: new Date(clock.now()) });
    return { before };
  });

async function change(unit: EntityManager, user: User, role: Role, { actor, origin, now }: By): Promise<void> {
  const before = user.role;
  if (before === role) return;
  // Whoever registers somebody else's address first must not be given what is meant for its owner.
  if (role !== 'member' && !user.emailVerifiedAt)
    throw new Problem('conflict', 'The user has not confirmed the e-mail address: a role other than member is given after that.', {
      param: 'role',
    });
  if (before === 'admin') await requireOtherAdministrator(unit, user, 'take the role admin from this user');
  user.role = role;
  await unit.flush();
  const accountId = user.account.id;
  await recordAudit(inUnit(unit), {
    accountId,
    actor,
    action: 'user.role_changed',
    target: { kind: 'user', id: user.id },
    changes: { role: { from: before, to: role } },
    ...(origin && { origin }),
  });
  // Where an administrator sits is no business of the user.
  const nowhere = { ip: null, userAgent: null, requestId: origin?.requestId ?? '' };
  await notify(inUnit(unit), 'role-changed', { to: user.email, accountId, at: now, origin: nowhere });
}

/**
 * Without an administrator nobody can make another one but whoever can reach the server itself. Only good behind `oneRoleChangeAtATime`.
 * @throws Problem `conflict` when there is no other administrator who can log in
 */
export async function requireOtherAdministrator(unit: EntityManager, user: User, deed: string): Promise<void> {
  if (user.role !== 'admin') return;
  const other = await unit.findOne(User, { role: 'admin', closedAt: null, id: { $ne: user.id }, passwordHash: { $ne: NO_PASSWORD } });
  if (!other) throw new Problem('conflict', `There is no other administrator: give somebody else the role admin first, then ${deed}.`);
}

interface By {
  readonly actor: Actor;
  /** Left out where it is done on the server itself. */
  readonly origin?: Origin;
  readonly now: Date;
}

/** Taken before any user is locked by whatever may leave the service with one administrator less. */
export const oneRoleChangeAtATime = (unit: EntityManager): Promise<unknown> =>
  inUnit(unit).query(`select pg_advisory_xact_lock(hashtext('tallygate: roles'))`);
