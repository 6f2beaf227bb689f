import { LockMode, raw, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole, CreateUserRequest, Role } from '@tallygate/contract';
import { type Origin, recordAudit } from '../../audit/index.ts';
import { claimConsent, upsertContact } from '../../community/people/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { Account, type DedicatedCapacity, type PlanOfAccount, planIdOf } from './account.ts';
import { mailToken } from './notices.ts';
import type { PasswordStrength } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { mintMailToken } from './recovery/mail-tokens.ts';
import { User } from './user.ts';

/** Of a user: in the service, and in the account. */
export interface Roles {
  readonly role: Role;
  readonly accountRole: AccountRole;
}

/** What a key inherits from the person who owns it. */
export interface Owner extends Roles {
  readonly plan: string;
  /** Absent without a contract. */
  readonly dedicated?: DedicatedCapacity;
}

interface CreateOptions {
  readonly role?: Role;
  /** Given to the account; left out, it has what follows from the gateway's settings. */
  readonly givenPlan?: string;
  /** The address needs no proof; else a mail asks for it. */
  readonly isVerified?: boolean;
  /** The web front end's request; left out when the service itself makes the user. */
  readonly origin?: Origin;
}

/** Whoever has closed their account is not found by any of these. */
export interface Users {
  /**
   * Makes a user with an account of their own.
   * @throws Problem `conflict` when the e-mail address has an account; only callers with the internal secret may see that;
   * `validation_failed` for a password that is easy to guess
   */
  create(input: CreateUserRequest, options?: CreateOptions): Promise<User>;
  /** The user with their account, `undefined` when there is none. */
  find(userId: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** Accounts that an administrator of the gateway is in. */
  accountsOfAdministrators(): Promise<ReadonlySet<string>>;
  /** Role and plan as they are now, `undefined` when the user is gone. */
  ownerOf(userId: string): Promise<Owner | undefined>;
  /** The same of somebody who is in the account, `undefined` when it is closed. */
  anyoneIn(accountId: string): Promise<Owner | undefined>;
}

interface UsersDeps {
  /** Its forks are used, one for each use case. */
  readonly em: EntityManager;
  readonly passwords: Passwords;
  readonly strength: PasswordStrength;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly planOf: PlanOfAccount;
}

export function createUsers({ em, passwords, strength, box, clock, planOf }: UsersDeps): Users {
  const find = async (userId: string) =>
    (await em.fork().findOne(User, { id: userId, closedAt: null }, { populate: ['account'] })) ?? undefined;

  function asOwner(user: User | null | undefined): Owner | undefined {
    if (!user) return undefined;
    const { plan = null, givenPlan = null, dedicated } = user.account;
    return { role: user.role, accountRole: user.accountRole, plan: planOf({ plan, givenPlan }), ...(dedicated && { dedicated }) };
  }

  return {
    find,

    async create(
      { email, password, name, marketing_consent: hasConsented },
      { role = 'member', isVerified = false, givenPlan, origin } = {},
    ) {
      // What the service itself makes up is random.
      if (origin) await strength.require(password, [email, name], 'password');
      const passwordHash = await passwords.hash(password);
      const createdAt = new Date(clock.now());
      try {
        return await inUnitOfWork(em, async (unit) => {
          const account = unit.create(Account, {
            id: newId(),
            name: name ?? email,
            plan: givenPlan ?? null,
            givenPlan: givenPlan ?? null,
            storesContent: true,
            createdAt,
          });
          const user = unit.create(User, {
            ...{ id: newId(), account, email, name: name ?? null, role, accountRole: 'owner', passwordHash, createdAt },
            emailVerifiedAt: isVerified ? createdAt : null,
          });
          await unit.flush();
          const db = inUnit(unit);
          await upsertContact(db, {
            email,
            name,
            source: 'user',
            userId: user.id,
            planTier: planIdOf(planOf, account),
            at: createdAt,
          });
          if (hasConsented) await claimConsent(db, { email, source: 'user', at: createdAt });
          await recordAudit(db, {
            accountId: account.id,
            actor: { kind: origin ? 'internal' : 'system', id: null },
            action: 'user.created',
            target: { kind: 'user', id: user.id },
            changes: { email, role },
            ...(origin && { origin }),
          });
          if (!isVerified) {
            const token = await mintMailToken(unit, 'verify-email', { userId: user.id, email }, createdAt);
            await mailToken(db, 'verify-email', { to: email, accountId: account.id, token, box });
          }
          return user;
        });
      } catch (error) {
        if (error instanceof UniqueConstraintViolationException) throw addressTaken();
        throw error;
      }
    },

    findByEmail: (email) => findByEmail(em.fork(), email),

    async accountsOfAdministrators() {
      const administrators = await em.fork().find(User, { role: 'admin', closedAt: null });
      return new Set(administrators.map(({ account }) => account.id));
    },

    ownerOf: async (userId) => asOwner(await find(userId)),
    anyoneIn: async (accountId) =>
      asOwner(await em.fork().findOne(User, { account: accountId, closedAt: null }, { populate: ['account'] })),
  };
}

/** What a user may do, as the transaction sees it; `undefined` when they are gone. */
export async function rolesOf(unit: EntityManager, userId: string): Promise<Roles | undefined> {
  const user = await unit.findOne(User, { id: userId, closedAt: null });
  return user ? { role: user.role, accountRole: user.accountRole } : undefined;
}

/** Without its cause: the database's message repeats the whole row, which has no business in a log. */
export const addressTaken = (): Problem =>
  new Problem('conflict', 'This e-mail address has an account already: log in instead.', { param: 'email' });

export async function findByEmail(unit: EntityManager, email: string): Promise<User | undefined> {
  // Compared in the database on both sides: PostgreSQL and JavaScript do not agree on every letter's lower case.
  const sameAddress = { [raw('lower(email)')]: raw('lower(?)', [email]), closedAt: null };
  return (await unit.findOne(User, sameAddress, { populate: ['account'] })) ?? undefined;
}

/**
 * The user as they are now, kept as they are until the transaction ends. Whatever changes a login (password, second factor,
 * closing) and every login itself take this lock first, so none of them acts on what another one is changing.
 */
export async function lockUser(unit: EntityManager, userId: string): Promise<User | undefined> {
  const user = await unit.findOne(User, { id: userId, closedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (user) await unit.populate(user, ['account']);
  return user ?? undefined;
}
