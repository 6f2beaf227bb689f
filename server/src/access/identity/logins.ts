import type { EntityManager } from '@mikro-orm/postgresql';
import type { LoginMfaRequest, LoginRequest } from '@tallygate/contract';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { type Origin, recordAudit } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { noteLoginFailure } from './login-failures.ts';
import { type Challenge, challengedUser, challengeExpired, openChallenge, spendChallenge, takeTry } from './mfa/login-challenge.ts';
import { type SecondFactor, wrongCode } from './mfa/second-factor.ts';
import { notify } from './notices.ts';
import type { Passwords } from './passwords.ts';
import type { Sessions, SignedIn } from './sessions.ts';
import { requirePasswordLogin } from './sso/password-login.ts';
import { tables } from './tables.ts';
import { isKnownAddress } from './throttle/known-addresses.ts';
import { guessingLimits } from './throttle/limits.ts';
import type { Admitted, Throttle } from './throttle/throttle.ts';
import type { User } from './user.ts';
import { lockUser } from './users.ts';

export interface Logins {
  /**
   * A session, or a challenge where the user has a second factor.
   * @throws Problem `invalid_credentials`, the same and after the same work for an unknown address and for a wrong password;
   * `directory_login_required` behind it; `rate_limited`
   */
  login(credentials: LoginRequest, origin: Origin): Promise<SignedIn | Challenge>;
  /** @throws Problem `challenge_expired`, `invalid_mfa_code`, `rate_limited` */
  complete(answer: LoginMfaRequest, origin: Origin): Promise<SignedIn>;
}

/** What a password is compared with, and whose it is. */
type Login = Pick<User, 'id' | 'passwordHash'>;

interface LoginsDeps {
  readonly em: EntityManager;
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly secondFactor: SecondFactor;
  readonly throttle: Throttle;
  readonly clock: Clock;
}

export function createLogins({ em, pool, sessions, passwords, secondFactor, throttle, clock }: LoginsDeps): Logins {
  const present = () => new Date(clock.now());

  /** Without the ORM: making entities of a user and their account takes about a millisecond, which an unknown address would not. */
  async function loginOf(email: string): Promise<Login | undefined> {
    return firstOf(
      pool,
      tables
        .selectFrom('users')
        .select(['id', 'password_hash as passwordHash'])
        .where(sql`lower(email)`, '=', sql`lower(${email})`)
        .where('closed_at', 'is', null),
    );
  }

  /** @param subject what the attempts are counted under: the same for a user and for nobody */
  async function admit(kind: string, subject: string, userId: string | undefined, { ip }: Origin): Promise<Admitted> {
    const isKnown = await isKnownAddress(pool, userId, ip, present());
    return throttle.admit(guessingLimits({ kind, subject, address: ip }, isKnown));
  }

  async function isRightPassword(password: string, user: Login | undefined, admitted: Admitted): Promise<boolean> {
    try {
      return await passwords.verify(password, user?.passwordHash);
    } catch (unlooked) {
      await admitted.withdrawn();
      throw unlooked;
    }
  }

  return {
    async login({ email, password }, origin) {
      const user = await loginOf(email);
      const admitted = await admit('login', email.toLowerCase(), user?.id, origin);
      const isRight = await isRightPassword(password, user, admitted);
      if (!user || !isRight) {
        await noteLoginFailure(pool, { userId: user?.id, kind: 'password', at: present(), origin });
        throw wrongPassword(user ? 'wrong password' : 'unknown e-mail address');
      }
      await admitted.succeeded();
      return inUnitOfWork(em, async (unit) => {
        const locked = await lockUser(unit, user.id);
        if (locked?.passwordHash !== user.passwordHash) throw wrongPassword('the password was changed meanwhile');
        requirePasswordLogin(locked);
        return locked.hasSecondFactor() ? openChallenge(unit, locked.id, present()) : sessions.open(unit, locked, origin);
      });
    },

    async complete({ challenge_token: token, code }, origin) {
      const userId = await challengedUser(em.fork(), token, present());
      if (userId === undefined) throw challengeExpired('unknown, used up or too old');
      const admitted = await admit('mfa', userId, userId, origin);
      if (!(await takeTry(em.fork(), token, present()))) throw challengeExpired('its last try was taken meanwhile');
      const signedIn = await inUnitOfWork(em, async (unit) => {
        const user = await lockUser(unit, userId);
        if (!user) throw challengeExpired('the user is gone');
        const method = await secondFactor.accept(unit, user, code);
        if (!method) return undefined;
        if (!(await spendChallenge(unit, token))) throw challengeExpired('another request has completed it');
        if (method === 'recovery_code') await tellOfRecoveryCode(unit, user, origin);
        return sessions.open(unit, user, origin);
      });
      if (!signedIn) {
        await noteLoginFailure(pool, { userId, kind: 'second_factor', at: present(), origin });
        throw wrongCode();
      }
      await admitted.succeeded();
      return signedIn;
    },
  };

  async function tellOfRecoveryCode(unit: EntityManager, user: User, origin: Origin): Promise<void> {
    const db = inUnit(unit);
    await recordAudit(db, {
      accountId: user.account.id,
      actor: { kind: 'user', id: user.id },
      action: 'mfa.recovery_used',
      target: { kind: 'user', id: user.id },
      origin,
    });
    await notify(db, 'recovery-code-used', { to: user.email, accountId: user.account.id, at: present(), origin });
  }
}

const wrongPassword = (because: string): Problem =>
  new Problem('invalid_credentials', 'The e-mail address and the password do not belong together.', { because });
