import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '../../audit/index.ts';
import { upsertContact } from '../../community/people/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { inUnit } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import { Account, type PlanOfAccount, planIdOf } from './account.ts';
import { NO_PASSWORD } from './passwords.ts';
import { mailClaim } from './recovery/mail-claim.ts';
import { MIN_INTERVAL_MS } from './recovery/mail-tokens.ts';
import { User } from './user.ts';
import { findByEmail, lockUser } from './users.ts';

/** Users whom somebody else's form makes. */
export interface ClaimableUsers {
  /**
   * The user of an address; where there is none, one without a password, who gets a mail with a link to set it. Nothing else opens the
   * account. To be called where no answer waits for it: what it does tells whether the address has an account.
   * @returns undefined where the account with this address was made by somebody who has not proven that they read it: its reader is asked
   * by mail to make it theirs, and until then `awaits_proof(address, since)` is true in the database
   */
  findOrMake(person: { readonly email: string; readonly name: string | null }): Promise<User | undefined>;
}

interface ClaimableUsersDeps {
  readonly em: EntityManager;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly planOf: PlanOfAccount;
}

export function createClaimableUsers({ em, box, clock, planOf }: ClaimableUsersDeps): ClaimableUsers {
  const make = (email: string, name: string | null): Promise<User> =>
    inUnitOfWork(em, async (unit) => {
      const createdAt = new Date(clock.now());
      const account = unit.create(Account, {
        ...{ id: newId(), name: name ?? email, plan: null, givenPlan: null, storesContent: true, createdAt },
      });
      const user = unit.create(User, {
        ...{ id: newId(), account, email, name, role: 'member' as const, passwordHash: NO_PASSWORD, createdAt },
      });
      await unit.flush();
      const db = inUnit(unit);
      await upsertContact(db, { email, name, source: 'user', userId: user.id, planTier: planIdOf(planOf, account), at: createdAt });
      await recordAudit(db, {
        accountId: account.id,
        actor: { kind: 'system', id: null },
        action: 'user.created',
        target: { kind: 'user', id: user.id },
        changes: { email, role: user.role },
      });
      await mailClaim(unit, user, { template: 'claim-account', box, now: createdAt });
      return user;
    });

  const askForProof = (userId: string): Promise<void> =>
    inUnitOfWork(em, async (unit) => {
      const now = new Date(clock.now());
      const user = await lockUser(unit, userId);
      const isAsked = now.getTime() - (user?.claimAskedAt?.getTime() ?? 0) < MIN_INTERVAL_MS;
      if (!user || isAsked || user.isOfItsAddress()) return;
      user.askForClaim(now);
      await mailClaim(unit, user, { template: 'take-over-account', box, now });
    });

  return {
    async findOrMake({ email, name }) {
      const known = await findByEmail(em.fork(), email);
      if (known?.isOfItsAddress()) return known;
      if (known) {
        await askForProof(known.id);
        return undefined;
      }
      try {
        return await make(email, name);
      } catch (error) {
        if (!(error instanceof UniqueConstraintViolationException)) throw error;
        // Somebody else made it meanwhile.
        const made = await findByEmail(em.fork(), email);
        if (!made) throw error;
        return made.isOfItsAddress() ? made : undefined;
      }
    },
  };
}
