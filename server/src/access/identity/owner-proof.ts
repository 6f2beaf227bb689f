import type { EntityManager } from '@mikro-orm/postgresql';
import { Problem } from '../../kernel/problem.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { type SecondFactor, wrongCode } from './mfa/second-factor.ts';
import type { Passwords } from './passwords.ts';
import { provingLimits } from './throttle/limits.ts';
import type { Throttle } from './throttle/throttle.ts';
import type { User } from './user.ts';
import { lockUser, type Users } from './users.ts';

/** Asks the holder of a credential to show that they are its owner: a stolen session must not be able to take the account. */
export interface OwnerProof {
  /**
   * Runs `effect` in a transaction with the user locked, once the password is right.
   * @throws Problem `confirmation_failed` for a wrong password, `rate_limited`; what `effect` throws counts as a failed proof too
   */
  withPassword<Result>(
    userId: string,
    password: string,
    effect: (unit: EntityManager, user: User) => Promise<Result>,
    options?: ProofOptions,
  ): Promise<Result>;
  /**
   * For inside of an effect. A user without a second factor needs no code.
   * @throws Problem `confirmation_failed` for a missing code, `invalid_mfa_code` for a wrong one
   */
  requireCode(unit: EntityManager, user: User, code: string | undefined): Promise<void>;
}

interface ProofOptions {
  /** Runs in the transaction before the user is locked: for locks that come first everywhere. */
  readonly before?: (unit: EntityManager) => Promise<unknown>;
}

interface OwnerProofDeps {
  readonly em: EntityManager;
  readonly users: Users;
  readonly passwords: Passwords;
  readonly secondFactor: SecondFactor;
  readonly throttle: Throttle;
}

export const createOwnerProof = ({ em, users, passwords, secondFactor, throttle }: OwnerProofDeps): OwnerProof => ({
  async withPassword(userId, password, effect, { before } = {}) {
    const admitted = await throttle.admit(provingLimits(userId));
    const user = await users.find(userId);
    const isRight = await passwords.verify(password, user?.passwordHash);
    if (!isRight) throw refused('wrong password');
    const result = await inUnitOfWork(em, async (unit) => {
      await before?.(unit);
      const locked = await lockUser(unit, userId);
      if (!locked || locked.passwordHash !== user?.passwordHash) throw refused('the password was changed meanwhile');
      return effect(unit, locked);
    });
    await admitted.succeeded();
    return result;
  },

  async requireCode(unit, user, code) {
    if (!user.hasSecondFactor()) return;
    if (code === undefined)
      throw new Problem(
        'confirmation_failed',
        'A second factor is on: send a code of the app or a recovery code as well. Nothing was changed.',
      );
    if (!(await secondFactor.accept(unit, user, code))) throw wrongCode();
  },
});

/** Guessing passwords here tells no more than at the login, where a right one gets as far as the challenge; the throttle counts both. */
const refused = (because: string): Problem =>
  new Problem('confirmation_failed', 'The password is wrong: nothing was changed.', { because });
