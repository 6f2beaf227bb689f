import type { EntityManager } from '@mikro-orm/postgresql';
import type { PasskeyAssertion, PasskeyLoginRequest, PasskeyRequestOptions } from '@tallygate/contract';
import type { Pool } from 'pg';
import { type Origin, recordAudit } from '../../../audit/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { noteLoginFailure } from '../login-failures.ts';
import { challengedUser, challengeExpired, spendChallenge, takeTry } from '../mfa/login-challenge.ts';
import { notify } from '../notices.ts';
import type { Sessions, SignedIn } from '../sessions.ts';
import { requirePasswordLogin } from '../sso/password-login.ts';
import { isKnownAddress } from '../throttle/known-addresses.ts';
import { formLimits, guessingLimits } from '../throttle/limits.ts';
import type { Admitted, Throttle } from '../throttle/throttle.ts';
import type { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { LIFETIME_MS, openPasskeyChallenge, takePasskeyChallenge } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';
import { noteUse, type PasskeyRow, passkeyWithCredential, referencesTo, userHandleOf } from './user-passkeys.ts';
import { notAccepted, readAssertion, type Use } from './webauthn.ts';

interface PasskeyLoginsDeps {
  readonly em: EntityManager;
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly clock: Clock;
  /** @throws Problem `not_found` where no passkey can be made */
  readonly relyingParty: () => RelyingParty;
}

interface Proven {
  readonly passkey: PasskeyRow;
  readonly use: Use;
  /** Of the login with a password whose second factor it is. */
  readonly token?: string;
  readonly origin: Origin;
}

/** From one network in an hour: every look at the sign-in page begins one, and the people of an office begin their day at the same time. */
const BEGUN = 1_000;

/** Logins with a passkey, by itself or after a password. */
export class PasskeyLogins {
  readonly #deps: PasskeyLoginsDeps;

  constructor(deps: PasskeyLoginsDeps) {
    this.#deps = deps;
  }

  /** @throws Problem `not_found`, `challenge_expired`, `rate_limited` */
  async begin(token: string | undefined, { ip: address }: Origin): Promise<PasskeyRequestOptions> {
    const { em, throttle } = this.#deps;
    const { rpId } = this.#deps.relyingParty();
    await throttle.admit(formLimits({ kind: 'passkey-login', subject: 'all', address, freePerSubject: BEGUN, freePerAddress: BEGUN }));
    const db = inUnit(em.fork());
    const options = { rpId, timeout: LIFETIME_MS };
    if (token === undefined) {
      const challenge = await openPasskeyChallenge(db, { purpose: 'login' }, this.#now());
      return { ...options, challenge, userVerification: 'required', allowCredentials: [] };
    }
    const userId = await challengedUser(em.fork(), token, this.#now());
    if (userId === undefined) throw challengeExpired('unknown, used up or too old');
    const challenge = await openPasskeyChallenge(db, { purpose: 'second-factor', userId }, this.#now());
    return { ...options, challenge, userVerification: 'preferred', allowCredentials: await referencesTo(db, userId) };
  }

  /** @throws Problem `invalid_passkey`, `challenge_expired`, `directory_login_required`, `rate_limited`, `not_found` */
  login({ challenge_token: token, credential }: PasskeyLoginRequest, origin: Origin): Promise<SignedIn> {
    return token === undefined ? this.#alone(credential, origin) : this.#afterPassword(token, credential, origin);
  }

  /** It names its user, and has verified them: what one has, and what one is or knows. */
  async #alone(credential: PasskeyAssertion, origin: Origin): Promise<SignedIn> {
    const passkey = await passkeyWithCredential(inUnit(this.#deps.em.fork()), credential.id);
    const userId = passkey?.user_id;
    const admitted = await this.#admit('passkey', userId ?? credential.id, userId, origin);
    return this.#noting({ kind: 'passkey', userId, origin }, admitted, async () => {
      const challenge = await this.#challengeIn(credential, { purpose: 'login' });
      if (!passkey) throw notAccepted('unknown');
      if (credential.response.userHandle !== userHandleOf(passkey.user_id)) throw notAccepted('it names another user, or none');
      const use = await readAssertion(credential, asKnown(passkey), { ...this.#expected(challenge), isVerifyingUser: true });
      return this.#open({ passkey, use, origin });
    });
  }

  /** The password is one factor: a passkey that only shows that it is there is the other. */
  async #afterPassword(token: string, credential: PasskeyAssertion, origin: Origin): Promise<SignedIn> {
    const { em } = this.#deps;
    const userId = await challengedUser(em.fork(), token, this.#now());
    if (userId === undefined) throw challengeExpired('unknown, used up or too old');
    const admitted = await this.#admit('mfa', userId, userId, origin);
    if (!(await takeTry(em.fork(), token, this.#now()))) throw challengeExpired('its last try was taken meanwhile');
    return this.#noting({ kind: 'second_factor', userId, origin }, admitted, async () => {
      const challenge = await this.#challengeIn(credential, { purpose: 'second-factor', userId });
      const passkey = await passkeyWithCredential(inUnit(em.fork()), credential.id);
      if (passkey?.user_id !== userId) throw notAccepted('unknown, or of another user');
      const use = await readAssertion(credential, asKnown(passkey), { ...this.#expected(challenge), isVerifyingUser: false });
      return this.#open({ passkey, use, token, origin });
    });
  }

  async #open({ passkey, use, token, origin }: Proven): Promise<SignedIn> {
    const signedIn = await inUnitOfWork(this.#deps.em, async (unit) => {
      const user = await lockUser(unit, passkey.user_id);
      if (!user) throw notAccepted('the user is gone');
      requirePasswordLogin(user);
      if (token !== undefined && !(await spendChallenge(unit, token))) throw challengeExpired('another request has completed it');
      const noted = await noteUse(unit, passkey.id, use, this.#now());
      if (noted === 'removed') throw notAccepted('removed meanwhile');
      if (noted === 'noted') return this.#deps.sessions.open(unit, user, origin, { passkeyId: passkey.id });
      await this.#tellOfCopy(unit, user, { passkey, use, origin });
      return undefined;
    });
    if (!signedIn) throw notAccepted('its counter went backwards: there is a copy of it');
    return signedIn;
  }

  async #tellOfCopy(unit: EntityManager, user: User, { passkey, use, origin }: Proven): Promise<void> {
    const db = inUnit(unit);
    await recordAudit(db, {
      accountId: user.account.id,
      actor: { kind: 'system', id: null },
      action: 'passkey.copy_detected',
      target: { kind: 'passkey', id: passkey.id },
      changes: { name: passkey.name, counted: `${passkey.sign_count}`, said: `${use.signCount}` },
      origin,
    });
    await notify(db, 'passkey-copied', { to: user.email, accountId: user.account.id, at: this.#now(), origin });
  }

  /** Notes what was not accepted, for the audit log and the owner. */
  async #noting(
    failing: { readonly kind: 'passkey' | 'second_factor'; readonly userId: string | undefined; readonly origin: Origin },
    admitted: Admitted,
    attempt: () => Promise<SignedIn>,
  ): Promise<SignedIn> {
    try {
      const signedIn = await attempt();
      await admitted.succeeded();
      return signedIn;
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_passkey')
        await noteLoginFailure(this.#deps.pool, { ...failing, at: this.#now() });
      throw error;
    }
  }

  async #admit(kind: string, subject: string, userId: string | undefined, { ip }: Origin): Promise<Admitted> {
    const { pool, throttle } = this.#deps;
    const isKnown = await isKnownAddress(pool, userId, ip, this.#now());
    return throttle.admit(guessingLimits({ kind, subject, address: ip }, isKnown));
  }

  #challengeIn({ response }: PasskeyAssertion, asked: Parameters<typeof takePasskeyChallenge>[2]): Promise<string> {
    return takePasskeyChallenge(inUnit(this.#deps.em.fork()), response.clientDataJSON, asked, this.#now());
  }

  #expected(challenge: string) {
    return { challenge, relyingParty: this.#deps.relyingParty() };
  }

  #now(): Date {
    return new Date(this.#deps.clock.now());
  }
}

const asKnown = ({ credential_id, public_key }: PasskeyRow) => ({ credentialId: credential_id, publicKey: public_key });
