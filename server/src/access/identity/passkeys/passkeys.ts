import type { EntityManager } from '@mikro-orm/postgresql';
import type { CreatePasskeyRequest, Passkey, PasskeyCreationOptions } from '@tallygate/contract';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import { type Clock, rfc3339 } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../../kernel/page.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, inUnit, rowsOf, run } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { notify } from '../notices.ts';
import { requireFreshSession, requireLiveSession } from '../sessions.ts';
import { requirePasswordLogin } from '../sso/password-login.ts';
import { tables } from '../tables.ts';
import { provingLimits } from '../throttle/limits.ts';
import type { Throttle } from '../throttle/throttle.ts';
import type { User } from '../user.ts';
import { lockUser } from '../users.ts';
import { LIFETIME_MS, openPasskeyChallenge, takePasskeyChallenge } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';
import { countPasskeys, type PasskeyRow, passkeysOf, referencesTo, userHandleOf } from './user-passkeys.ts';
import { ALGORITHMS, type NewCredential, readNewCredential } from './webauthn.ts';

interface PasskeysDeps {
  readonly em: EntityManager;
  readonly throttle: Throttle;
  readonly clock: Clock;
  /** @throws Problem `not_found` where no passkey can be made */
  readonly relyingParty: () => RelyingParty;
}

const MOST = 20;
const PASSKEYS = new Keyset({ name: 'passkeys', columns: { id: 'uuid' }, direction: 'desc' });

/** What users do with their own passkeys. Adding and removing takes a fresh session: a stolen one must not be able to stay. */
export class Passkeys {
  readonly #deps: PasskeysDeps;

  constructor(deps: PasskeysDeps) {
    this.#deps = deps;
  }

  /** @throws Problem `recent_login_required`, `directory_login_required`, `conflict` for too many, `not_found` */
  begin(principal: SessionPrincipal): Promise<PasskeyCreationOptions> {
    const { rpId } = this.#deps.relyingParty();
    return this.#withUser(principal, async (unit, user) => {
      const db = inUnit(unit);
      await this.#requireMore(unit, principal, user);
      return {
        rp: { id: rpId, name: 'Tallygate' },
        user: { id: userHandleOf(user.id), name: user.email, displayName: user.name ?? user.email },
        challenge: await openPasskeyChallenge(db, { purpose: 'registration', userId: user.id }, this.#now()),
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
        timeout: LIFETIME_MS,
        attestation: 'none',
        excludeCredentials: await referencesTo(db, user.id),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      };
    });
  }

  /** @throws Problem as {@link begin}; `challenge_expired`, `invalid_passkey`, `conflict` for one that is known, `rate_limited` */
  async add(principal: SessionPrincipal, { name, credential }: CreatePasskeyRequest, origin: Origin): Promise<Passkey> {
    const { em, throttle } = this.#deps;
    const relyingParty = this.#deps.relyingParty();
    const admitted = await throttle.admit(provingLimits(principal.userId));
    const asked = { purpose: 'registration', userId: principal.userId } as const;
    const challenge = await takePasskeyChallenge(inUnit(em.fork()), credential.response.clientDataJSON, asked, this.#now());
    const made = await readNewCredential(credential, { challenge, relyingParty });
    const added = await this.#withUser(principal, async (unit, user) => {
      await this.#requireMore(unit, principal, user);
      const row = rowOf(made, { userId: user.id, name, transports: credential.response.transports ?? [], at: this.#now() });
      const kept = tables
        .insertInto('passkeys')
        .values(row)
        .onConflict((conflict) => conflict.column('credential_id').doNothing());
      if ((await run(inUnit(unit), kept)) === 0) throw new Problem('conflict', 'This passkey is known already: make another one.');
      await this.#told(unit, user, { is: 'added', principal, passkeyId: row.id, changes: { name }, origin });
      return toWire(row);
    });
    await admitted.succeeded();
    return added;
  }

  async list({ userId }: SessionPrincipal, query: PageQuery): Promise<Page<Passkey>> {
    const rows = await rowsOf(inUnit(this.#deps.em.fork()), PASSKEYS.pageIn(passkeysOf(userId), query));
    return mapPage(PASSKEYS.page(rows, query), toWire);
  }

  /** @throws Problem `not_found`, also for another user's */
  rename(principal: SessionPrincipal, passkeyId: string, name: string): Promise<Passkey> {
    return this.#withUser(principal, async (unit) => {
      await requireLiveSession(unit, principal.sessionId, this.#now());
      const own = tables.updateTable('passkeys').set({ name }).where('id', '=', passkeyId).where('user_id', '=', principal.userId);
      const renamed = await firstOf(inUnit(unit), own.returningAll());
      if (!renamed) throw unknown();
      return toWire(renamed);
    });
  }

  /** Ends other sessions that it has opened: it is removed because the device is gone. @throws Problem `not_found`, `recent_login_required` */
  async remove(principal: SessionPrincipal, passkeyId: string, origin: Origin): Promise<void> {
    await this.#withUser(principal, async (unit, user) => {
      const db = inUnit(unit);
      const now = this.#now();
      await requireFreshSession(unit, principal.sessionId, now);
      const own = tables.deleteFrom('passkeys').where('id', '=', passkeyId).where('user_id', '=', principal.userId);
      const removed = await firstOf(db, own.returning('name'));
      if (!removed) throw unknown();
      const opened = tables.updateTable('sessions').set({ revoked_at: now }).where('passkey_id', '=', passkeyId);
      const ended = await run(
        db,
        opened.where('user_id', '=', user.id).where('revoked_at', 'is', null).where('id', '!=', principal.sessionId),
      );
      await this.#told(unit, user, {
        ...{ is: 'removed' as const, principal, passkeyId, origin },
        changes: { name: removed.name, sessions_ended: ended },
      });
    });
  }

  /** @throws Problem */
  async #requireMore(unit: EntityManager, principal: SessionPrincipal, user: User): Promise<void> {
    await requireFreshSession(unit, principal.sessionId, this.#now());
    requirePasswordLogin(user);
    if ((await countPasskeys(inUnit(unit), user.id)) >= MOST)
      throw new Problem('conflict', `You have ${MOST} passkeys, which is the most: remove one first.`);
  }

  async #told(unit: EntityManager, user: User, { is, principal, passkeyId, changes, origin }: Told): Promise<void> {
    const db = inUnit(unit);
    await recordAudit(db, {
      accountId: principal.accountId,
      actor: actorOf(principal),
      action: `passkey.${is}`,
      target: { kind: 'passkey', id: passkeyId },
      changes,
      origin,
    });
    await notify(db, `passkey-${is}`, { to: user.email, accountId: principal.accountId, at: this.#now(), origin });
  }

  #withUser<Result>(principal: SessionPrincipal, effect: (unit: EntityManager, user: User) => Promise<Result>): Promise<Result> {
    return inUnitOfWork(this.#deps.em, async (unit) => {
      const user = await lockUser(unit, principal.userId);
      // Closed between the check of the credential and here.
      if (!user) throw new Problem('invalid_credentials', 'The user of this credential no longer exists.');
      return effect(unit, user);
    });
  }

  #now(): Date {
    return new Date(this.#deps.clock.now());
  }
}

interface Told {
  readonly is: 'added' | 'removed';
  readonly principal: SessionPrincipal;
  readonly passkeyId: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly origin: Origin;
}

interface Kept {
  readonly userId: string;
  readonly name: string;
  readonly transports: string[];
  readonly at: Date;
}

const rowOf = (made: NewCredential, { userId, name, transports, at }: Kept) => ({
  ...{ id: newId(), user_id: userId, name, transports, created_at: at, last_used_at: null },
  credential_id: made.id,
  public_key: made.publicKey,
  sign_count: BigInt(made.signCount),
  is_backup_eligible: made.isBackupEligible,
  is_backed_up: made.isBackedUp,
});

const unknown = (): Problem => new Problem('not_found', 'There is no such passkey of yours: GET /v1/users/me/passkeys lists them.');

type Shown = Pick<PasskeyRow, 'id' | 'name' | 'is_backed_up' | 'created_at' | 'last_used_at'>;

const toWire = ({ id, name, is_backed_up, created_at, last_used_at }: Shown): Passkey => ({
  passkey_id: id,
  name,
  synced: is_backed_up,
  created_at: rfc3339(created_at),
  last_used_at: last_used_at && rfc3339(last_used_at),
});
