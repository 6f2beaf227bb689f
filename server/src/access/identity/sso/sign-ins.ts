import { hash, randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { type Directory, SignInRefused } from '../../../adapters/directory/port.ts';
import type { Origin } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, inUnit, type Queryable, type RowOf, run } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import type { PlanOfAccount } from '../account.ts';
import type { DirectorySignIn } from '../entities.ts';
import type { Sessions, SignedIn } from '../sessions.ts';
import { tables } from '../tables.ts';
import { formLimits, tokenLimits } from '../throttle/limits.ts';
import type { Throttle } from '../throttle/throttle.ts';
import { lockUser } from '../users.ts';
import { type IsDeactivated, memberFor, type RoleRules, subjectOf } from './directory-members.ts';
import { setPasswordLogin } from './password-login.ts';

/** A directory and whose members it signs in. */
export interface Connection {
  readonly directory: Directory;
  /** As people call it: on buttons. */
  readonly name: string;
  readonly issuer: string;
  readonly accountId: () => Promise<string>;
  readonly rules: RoleRules;
  readonly isDeactivated: IsDeactivated;
  /** The projects that their groups give, now that they are a member. */
  readonly giveProjects: (db: Queryable, member: SignedInMember) => Promise<void>;
}

/** Somebody who has just signed in, with the groups that the directory named. */
export interface SignedInMember {
  readonly accountId: string;
  readonly userId: string;
  readonly groups: readonly string[];
  readonly origin: Origin;
  readonly at: Date;
}

/** How a program or a page begins: the authorization code flow with PKCE, of which this gateway is the server (RFC 7636). */
export interface SignInRequest {
  readonly returnTo: string;
  /** Given back unchanged. */
  readonly returnState: string | undefined;
  /** Base64url of the SHA-256 of the verifier that takes the session. */
  readonly codeChallenge: string;
}

interface SignInsDeps {
  readonly em: EntityManager;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly log: Log;
  readonly planOf: PlanOfAccount;
}

type SignInRow = RowOf<typeof DirectorySignIn>;

/** At the directory people look for their second factor. */
const AT_DIRECTORY_MS = 10 * 60_000;
const CODE_MS = 60_000;
/** From one network in an hour: the people of an office begin their day at the same time. */
const BEGUN = 1_000;

/** Logins with the company's directory. */
export class SignIns {
  readonly #deps: SignInsDeps;
  readonly #connection: Connection;

  constructor(connection: Connection, deps: SignInsDeps) {
    this.#connection = connection;
    this.#deps = deps;
  }

  get name(): string {
    return this.#connection.name;
  }

  /** @returns where the browser goes: back at once where the directory does not answer. @throws Problem `rate_limited` */
  async begin({ returnTo, returnState, codeChallenge }: SignInRequest, origin: Origin): Promise<string> {
    const { em, throttle, log } = this.#deps;
    const { ip: address } = origin;
    await throttle.admit(formLimits({ kind: 'directory-sign-in', subject: 'all', address, freePerSubject: BEGUN, freePerAddress: BEGUN }));
    const begun = await this.#connection.directory.begin().catch((cause: unknown) => {
      log.error({ err: cause }, 'the directory does not answer');
      return undefined;
    });
    if (!begun)
      return addressOf(returnTo, returnState, { error: 'temporarily_unavailable', error_description: 'The directory does not answer.' });
    const { url, state, nonce, codeVerifier } = begun;
    const row = {
      ...{ id: newId(), state_hash: digest(state), nonce, code_verifier: codeVerifier, return_to: returnTo },
      ...{ return_state: returnState ?? null, code_challenge: codeChallenge, expires_at: this.#in(AT_DIRECTORY_MS) },
    };
    await run(inUnit(em.fork()), tables.insertInto('directory_sign_ins').values(row));
    return url;
  }

  /** @param returned from the directory. @returns where the browser goes. @throws Problem `invalid_token` where nobody waits for it */
  async returned(returned: URL, origin: Origin): Promise<string> {
    const { em, log } = this.#deps;
    const state = returned.searchParams.get('state') ?? '';
    const waiting = tables
      .selectFrom('directory_sign_ins')
      .selectAll()
      .where('state_hash', '=', digest(state))
      .where('code_hash', 'is', null);
    const row = await firstOf(inUnit(em.fork()), waiting.where('expires_at', '>', this.#in(0)));
    if (!row) throw new Problem('invalid_token', 'Nobody waits for this sign-in: it was used or took too long. Begin it again.');
    try {
      return addressOf(row.return_to, row.return_state, { code: await this.#admit(row, returned, state, origin) });
    } catch (error) {
      if (!(error instanceof SignInRefused || error instanceof Problem)) throw error;
      log.warn({ requestId: origin.requestId, ip: origin.ip, because: error.message }, 'sign-in with the directory refused');
      await run(inUnit(em.fork()), tables.deleteFrom('directory_sign_ins').where('id', '=', row.id));
      const description = error instanceof Problem ? error.message : 'The directory did not sign you in.';
      return addressOf(row.return_to, row.return_state, { error: 'access_denied', error_description: description });
    }
  }

  async #admit(row: SignInRow, returned: URL, state: string, origin: Origin): Promise<string> {
    const { em, planOf } = this.#deps;
    const { directory, issuer, rules, isDeactivated, giveProjects } = this.#connection;
    const identity = await directory.complete(returned, { state, nonce: row.nonce, codeVerifier: row.code_verifier });
    const accountId = await this.#connection.accountId();
    const code = `tgo_${randomBytes(32).toString('base64url')}`;
    await inUnitOfWork(em, async (unit) => {
      const at = this.#in(0);
      const user = await memberFor(unit, { accountId, issuer, identity, rules, isDeactivated, planOf, origin, at });
      await giveProjects(inUnit(unit), { accountId, userId: user.id, groups: identity.groups, origin, at });
      const admitted = { code_hash: digest(code), user_id: user.id, directory_session: identity.session, expires_at: this.#in(CODE_MS) };
      // Of two returns with one state one counts.
      const taken = tables.updateTable('directory_sign_ins').set(admitted).where('id', '=', row.id).where('code_hash', 'is', null);
      if ((await run(inUnit(unit), taken)) === 0) throw new SignInRefused('used by another request meanwhile');
    });
    return code;
  }

  /** @throws Problem `invalid_token` for a code that was used, has expired, or was made for another program; `rate_limited` */
  async take(code: string, codeVerifier: string, origin: Origin): Promise<SignedIn> {
    const { em, sessions, throttle } = this.#deps;
    const admitted = await throttle.admit(tokenLimits('directory-code', origin.ip));
    // Spent also by whoever does not have the verifier: the code was seen by somebody else, and by nobody a second time.
    const spent = tables.deleteFrom('directory_sign_ins').where('code_hash', '=', digest(code)).where('expires_at', '>', this.#in(0));
    const row = await firstOf(inUnit(em.fork()), spent.returning(['user_id', 'code_challenge', 'directory_session']));
    const userId = row?.user_id;
    if (!userId || row.code_challenge !== challengeOf(codeVerifier)) throw invalidCode();
    const signedIn = await inUnitOfWork(em, async (unit) => {
      const user = await lockUser(unit, userId);
      if (!user) throw invalidCode();
      return sessions.open(unit, user, origin, { directorySession: row.directory_session });
    });
    await admitted.succeeded();
    return signedIn;
  }

  /** Ends the caller's session here. @returns where the browser ends the one at the directory; null where the directory has no such page */
  async logout(principal: SessionPrincipal, origin: Origin): Promise<string | null> {
    await this.#deps.sessions.logout(principal, origin);
    return (await this.#connection.directory.logoutUrl().catch(() => undefined)) ?? null;
  }

  /** @param isOn with a password or a passkey; owners log in so all the same */
  setPasswordLogin(principal: SessionPrincipal, isOn: boolean, origin: Origin): Promise<void> {
    return setPasswordLogin(this.#deps.em, principal, isOn, origin);
  }

  /** The directory has ended a session: so do those that came of it. @throws SignInRefused for what is no logout token of the directory */
  async endedElsewhere(logoutToken: string): Promise<number> {
    const { subject, session } = await this.#connection.directory.readLogout(logoutToken);
    const living = tables
      .updateTable('sessions')
      .set({ revoked_at: this.#in(0) })
      .where('revoked_at', 'is', null);
    const ofSession = session === null ? living : living.where('directory_session', '=', session);
    const ended =
      subject === null
        ? ofSession
        : ofSession.where('user_id', 'in', (eb) =>
            eb
              .selectFrom('users')
              .select('id')
              .where('directory_subject', '=', subjectOf(this.#connection.issuer, subject))
              .where('closed_at', 'is', null),
          );
    return run(inUnit(this.#deps.em.fork()), ended);
  }

  #in(ms: number): Date {
    return new Date(this.#deps.clock.now() + ms);
  }
}

function addressOf(returnTo: string, state: string | null | undefined, answer: Readonly<Record<string, string>>): string {
  const address = new URL(returnTo);
  for (const [name, value] of Object.entries(answer)) address.searchParams.set(name, value);
  if (typeof state === 'string') address.searchParams.set('state', state);
  return address.href;
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url');
const invalidCode = (): Problem =>
  new Problem('invalid_token', 'The code was used, has expired, or belongs to another program: begin the sign-in again.');
