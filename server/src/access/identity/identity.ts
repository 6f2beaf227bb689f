import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { type AuditLog, createAuditLog } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { openReference, sealForMail } from '../../mail/index.ts';
import type { PlanOfAccount } from './account.ts';
import { type ClaimableUsers, createClaimableUsers } from './claimable-users.ts';
import { createDeviceLogins, type DeviceLogins } from './devices/device-logins.ts';
import { type Recording, recordLoginFailures } from './login-failures.ts';
import { createLogins, type Logins } from './logins.ts';
import type { OnMemberRemoved } from './members/end-membership.ts';
import { Invitations } from './members/invitations.ts';
import { Members } from './members/members.ts';
import { createMfa, type Mfa } from './mfa/mfa.ts';
import { createSecondFactor } from './mfa/second-factor.ts';
import type { OnAccountClosed, OnStoringOff } from './on-account-closed.ts';
import { createOwnerProof } from './owner-proof.ts';
import { PasskeyLogins } from './passkeys/passkey-logins.ts';
import { Passkeys } from './passkeys/passkeys.ts';
import type { RelyingParty } from './passkeys/relying-party.ts';
import { createPasswordStrength } from './password-strength.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createProfile, type Profile } from './profile.ts';
import { answerMailRequests } from './recovery/answer-requests.ts';
import { createRecovery, type Recovery } from './recovery/recovery.ts';
import { createRoles, type Roles } from './roles.ts';
import { ABSOLUTE_MS } from './session.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createThrottle, type Throttle } from './throttle/throttle.ts';
import { createUsers, type Users } from './users.ts';

/** The slice, put together. */
export interface Identity {
  readonly planOf: PlanOfAccount;
  readonly users: Users;
  readonly claimable: ClaimableUsers;
  readonly sessions: Sessions;
  readonly logins: Logins;
  readonly deviceLogins: DeviceLogins;
  readonly mfa: Mfa;
  readonly passkeys: Passkeys;
  /** Whom passkeys are made for; undefined where none can be made. */
  readonly relyingParty: () => RelyingParty | undefined;
  readonly passkeyLogins: PasskeyLogins;
  readonly roles: Roles;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly profile: Profile;
  readonly recovery: Recovery;
  readonly auditLog: AuditLog;
  /** Slows down forms that anybody may send: with `formLimits`. */
  readonly throttle: Throttle;
  /** Seals a token for the row of a mail, whose template opens it with the desk. */
  sealForMail(token: string): string;
  /** What the sealed link of a mail refers to; undefined for what is none of ours. */
  openReference(token: string): string | undefined;
  /** Puts failed logins into the audit log, and tells owners; a job calls it before mails are sent. */
  recordLoginFailures(recording?: Recording): Promise<void>;
  /** Writes the mails that were asked for; a job calls it before mails are sent. */
  answerMailRequests(signal?: AbortSignal): Promise<void>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

interface IdentityDeps {
  readonly em: EntityManager;
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly planOf: PlanOfAccount;
  readonly onAccountClosed: OnAccountClosed;
  readonly onStoringOff: OnStoringOff;
  /** The reader of an address has taken over an account that somebody may have made without reading it: what credentials it has, end. */
  readonly onTakenOver: OnAccountClosed;
  readonly onMemberRemoved: OnMemberRemoved;
  /** What the service is reached as: no password is made of it. */
  readonly hostName?: () => string;
  /** Whom passkeys are made for; undefined where none can be made. */
  readonly relyingParty: () => RelyingParty | undefined;
  /** Left out, passwords are hashed at the cost that OWASP recommends. */
  readonly passwords?: Passwords;
}

export function createIdentity({
  em,
  pool,
  box,
  clock,
  planOf,
  onAccountClosed,
  onStoringOff,
  onTakenOver,
  onMemberRemoved,
  hostName,
  relyingParty,
  passwords = createPasswords(),
}: IdentityDeps): Identity {
  const strength = createPasswordStrength({ ...(hostName && { hostName }) });
  const throttle = createThrottle({ pool, clock });
  const users = createUsers({ em, passwords, strength, box, clock, planOf });
  const sessions = createSessions({ em, clock, planOf });
  const secondFactor = createSecondFactor({ box, clock });
  const party = () => orNoPasskeys(relyingParty());
  const ownerProof = createOwnerProof({ em, users, passwords, secondFactor, throttle });
  return {
    planOf,
    users,
    claimable: createClaimableUsers({ em, box, clock, planOf }),
    sessions,
    logins: createLogins({ em, pool, sessions, passwords, secondFactor, throttle, clock }),
    deviceLogins: createDeviceLogins({ em, sessions, throttle, clock }),
    mfa: createMfa({ em, secondFactor, ownerProof, clock }),
    passkeys: new Passkeys({ em, throttle, clock, relyingParty: party }),
    passkeyLogins: new PasskeyLogins({ em, pool, sessions, throttle, clock, relyingParty: party }),
    relyingParty,
    roles: createRoles({ em, clock }),
    members: new Members({ em, clock, onMemberRemoved }),
    invitations: new Invitations({ em, passwords, strength, throttle, box, clock, planOf }),
    profile: createProfile({ em, passwords, strength, secondFactor, ownerProof, users, onAccountClosed, onStoringOff, throttle, clock }),
    recovery: createRecovery({ em, pool, passwords, strength, throttle, onTakenOver, onMemberRemoved, clock }),
    auditLog: createAuditLog(pool),
    throttle,
    sealForMail: (token) => sealForMail(box, token),
    openReference: (token) => openReference(box, token),
    recordLoginFailures: (recording) => recordLoginFailures({ em, clock }, recording),
    answerMailRequests: (signal) => answerMailRequests({ em, box, clock }, signal),
    async sweep() {
      const now = new Date(clock.now());
      await pool.query('delete from login_challenges where expires_at < $1', [now]);
      await pool.query('delete from passkey_challenges where expires_at < $1', [now]);
      await pool.query('delete from device_logins where expires_at < $1', [now]);
      await pool.query('delete from directory_sign_ins where expires_at < $1', [now]);
      await pool.query('delete from mail_tokens where expires_at < $1', [now]);
      await pool.query(`delete from known_addresses where seen_at < $1::timestamptz - interval '90 days'`, [now]);
      await pool.query(`delete from login_failures where failed_at < $1::timestamptz - interval '1 day'`, [now]);
      await pool.query('delete from sessions where created_at <= $1', [new Date(now.getTime() - ABSOLUTE_MS)]);
      await throttle.sweep();
    },
  };
}

/** @throws Problem `not_found` */
function orNoPasskeys(relyingParty: RelyingParty | undefined): RelyingParty {
  if (!relyingParty)
    throw new Problem('not_found', 'There are no passkeys here: the service is reached at an IP address, and they are made for names.');
  return relyingParty;
}
