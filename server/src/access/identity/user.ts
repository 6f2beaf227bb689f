import { defineEntity, p } from '@mikro-orm/core';
import { normalAddress } from '../../community/people/index.ts';
import { Account, CLOSED_ACCOUNT_NAME } from './account.ts';
import { DIRECTORY_LOGIN, NO_PASSWORD } from './passwords.ts';

export const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).fieldName('account_id'),
    email: p.text(),
    name: p.text().nullable(),
    role: p.enum(['member', 'marketing', 'admin'] as const),
    accountRole: p
      .enum(['owner', 'admin', 'billing', 'developer', 'viewer'] as const)
      .fieldName('account_role')
      .defaultRaw("'owner'"),
    externalId: p.text().fieldName('external_id').nullable(),
    passwordHash: p.text().fieldName('password_hash').hidden(),
    directorySubject: p.text().fieldName('directory_subject').nullable(),
    emailVerifiedAt: p.datetime().fieldName('email_verified_at').nullable(),
    claimAskedAt: p.datetime().fieldName('claim_asked_at').nullable(),
    mfaSealedSecret: p.text().fieldName('mfa_sealed_secret').nullable().hidden(),
    mfaEnabledAt: p.datetime().fieldName('mfa_enabled_at').nullable(),
    mfaLastStep: p.bigint('bigint').fieldName('mfa_last_step').defaultRaw('0').hidden(),
    createdAt: p.datetime().fieldName('created_at'),
    closedAt: p.datetime().fieldName('closed_at').nullable(),
  },
});

/** A person. The e-mail address is unique whatever its case; it is kept as it was typed. */
export class User extends UserSchema.class {
  /** Whether a login needs a second factor. A secret that was begun and not confirmed does not count. */
  hasSecondFactor(): boolean {
    return Boolean(this.mfaEnabledAt);
  }

  /** Replaces whatever was begun before. */
  beginSecondFactor(sealedSecret: string): void {
    this.mfaSealedSecret = sealedSecret;
  }

  enableSecondFactor(now: Date): void {
    this.mfaEnabledAt = now;
  }

  disableSecondFactor(): void {
    this.mfaSealedSecret = null;
    this.mfaEnabledAt = null;
  }

  /**
   * Whether nobody but the reader of the address can be in the account: the address was proven, or there is no password, which only a mail
   * can set. Whatever is meant for an address goes to no other account.
   */
  isOfItsAddress(): boolean {
    return Boolean(this.emailVerifiedAt) || this.passwordHash === NO_PASSWORD;
  }

  /** The directory of the account made them, and nobody has set a password since. */
  isOfDirectory(): boolean {
    return this.passwordHash === DIRECTORY_LOGIN;
  }

  /** Something waits for the reader of the address: from now on only a new password proves it, as confirming would keep a stranger's. */
  isToBeClaimed(email: string): boolean {
    return Boolean(this.claimAskedAt) && !this.isOfItsAddress() && normalAddress(email) === normalAddress(this.email);
  }

  askForClaim(now: Date): void {
    this.claimAskedAt = now;
  }

  /** Keeps the first time for an address that was proven before. */
  proveEmail(email: string, now: Date): void {
    if (email !== this.email) this.emailVerifiedAt = now;
    this.email = email;
    this.emailVerifiedAt ??= now;
  }

  /** Closes the account with it; usage and postings go on naming the account. */
  close(now: Date): void {
    this.leave(now);
    this.account.name = CLOSED_ACCOUNT_NAME;
  }

  /** Frees the address and takes out what tells who it was. */
  leave(now: Date): void {
    this.closedAt ??= now;
    this.email = `${this.id}@closed.invalid`;
    this.name = null;
    this.externalId = null;
    this.passwordHash = NO_PASSWORD;
    this.directorySubject = null;
    this.disableSecondFactor();
  }
}
UserSchema.setClass(User);
