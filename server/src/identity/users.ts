import { raw, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CreateUserRequest, Role } from '@tallygate/contract';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { Problem } from '../kernel/problem.ts';
import { Account } from './account.ts';
import type { Passwords } from './passwords.ts';
import { User } from './user.ts';

/** What a key inherits from the person who owns it. */
export interface Owner {
  readonly role: Role;
  readonly plan: string;
}

export interface Users {
  /**
   * Makes a user with an account of their own on the free plan.
   * @throws Problem `conflict` when the e-mail address has an account; only callers with the internal secret may see that
   */
  create(input: CreateUserRequest, role?: Role): Promise<User>;
  /** The user with their account, `undefined` when there is none. */
  find(userId: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** Role and plan as they are now, `undefined` when the user is gone. */
  ownerOf(userId: string): Promise<Owner | undefined>;
}

/** @param em its forks are used, one for each use case */
export function createUsers({ em, passwords, clock }: { em: EntityManager; passwords: Passwords; clock: Clock }): Users {
  const find = async (userId: string) => (await em.fork().findOne(User, { id: userId }, { populate: ['account'] })) ?? undefined;
  return {
    find,

    async create({ email, password, name }, role = 'member') {
      const passwordHash = await passwords.hash(password);
      const createdAt = new Date(clock.now());
      const unit = em.fork();
      const account = unit.create(Account, { id: newId(), name: name ?? email, plan: 'free', createdAt });
      const user = unit.create(User, { id: newId(), account, email, name: name ?? null, role, passwordHash, createdAt });
      try {
        await unit.flush();
      } catch (error) {
        if (error instanceof UniqueConstraintViolationException)
          // Without its cause: the database's message repeats the whole row, which has no business in a log.
          throw new Problem('conflict', 'This e-mail address has an account already: log in instead.', { param: 'email' });
        throw error;
      }
      return user;
    },

    async findByEmail(email) {
      // Compared in the database on both sides: PostgreSQL and JavaScript do not agree on every letter's lower case.
      const sameAddress = { [raw('lower(email)')]: raw('lower(?)', [email]) };
      return (await em.fork().findOne(User, sameAddress, { populate: ['account'] })) ?? undefined;
    },

    async ownerOf(userId) {
      const user = await find(userId);
      return user && { role: user.role, plan: user.account.plan };
    },
  };
}
