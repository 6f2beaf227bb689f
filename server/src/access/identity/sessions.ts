import type { EntityManager } from '@mikro-orm/postgresql';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { SessionGrant, SessionPrincipal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { Keyset, type Page, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { inUnit, run } from '../../kernel/statements.ts';
import { inUnitOfWork } from '../../kernel/transaction.ts';
import type { PlanOfAccount } from './account.ts';
import { Session } from './session.ts';
import { isSessionToken, mintSessionToken, sessionTokenHash } from './session-token.ts';
import { tables } from './tables.ts';
import { rememberAddress } from './throttle/known-addresses.ts';
import type { User } from './user.ts';

const MAX_USER_AGENT = 300;

/** A fresh session; the plain token exists here and nowhere else. */
export interface SignedIn {
  readonly user: User;
  readonly token: string;
  readonly expiresAt: Date;
}

/** How somebody logged in, where it was not with a password. */
export interface LoginMeans {
  /** A program that a browser vouched for. */
  readonly client?: string;
  /** The directory vouched for them; null where it has no name for its session. */
  readonly directorySession?: string | null;
  /** A passkey, by itself or as the second factor. */
  readonly passkeyId?: string;
}

export interface Sessions {
  /** For a user whose row the caller has locked, and who has shown all that a login asks for. */
  open(unit: EntityManager, user: User, origin: Origin, means?: LoginMeans): Promise<SignedIn>;
  /** Ends the caller's own session; ending it twice changes nothing. */
  logout(principal: SessionPrincipal, origin: Origin): Promise<void>;
  /** Those of the caller's user that are alive, the last used first. */
  list(principal: SessionPrincipal, query: PageQuery): Promise<Page<Session>>;
  /** @throws Problem `not_found`, also for another user's session */
  end(principal: SessionPrincipal, sessionId: string, origin: Origin): Promise<void>;
  /** @throws Problem `invalid_credentials` for anything that is not a live session's token */
  authenticate(token: string): Promise<SessionGrant>;
}

const SESSIONS = new Keyset({ name: 'sessions', columns: { lastUsedAt: 'time', id: 'uuid' }, direction: 'desc' });

interface SessionsDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  readonly planOf: PlanOfAccount;
}

export function createSessions({ em, clock, planOf }: SessionsDeps): Sessions {
  const present = () => new Date(clock.now());

  async function end(principal: SessionPrincipal, sessionId: string, origin: Origin): Promise<void> {
    await inUnitOfWork(em, async (unit) => {
      const session = await unit.findOne(Session, { id: sessionId, user: principal.userId });
      if (!session) throw new Problem('not_found', 'There is no such session of yours: GET /v1/users/me/sessions lists them.');
      if (session.revokedAt) return;
      session.revoke(present());
      await recordAudit(inUnit(unit), {
        accountId: principal.accountId,
        actor: actorOf(principal),
        action: 'session.ended',
        target: { kind: 'session', id: sessionId },
        origin,
      });
    });
  }

  return {
    async open(unit, user, origin, { client, directorySession, passkeyId } = {}) {
      const now = present();
      const token = mintSessionToken();
      const session = unit.create(Session, {
        id: newId(),
        user,
        tokenHash: sessionTokenHash(token),
        createdAt: now,
        lastUsedAt: now,
        ipAddress: origin.ip,
        userAgent: origin.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
        isByDevice: client !== undefined,
        directorySession: directorySession ?? null,
        passkeyId: passkeyId ?? null,
      });
      const db = inUnit(unit);
      // Of a program's address nobody has shown that it is the user's.
      if (client === undefined) await rememberAddress(db, user.id, origin.ip, now);
      await recordAudit(db, {
        accountId: user.account.id,
        actor: { kind: 'user', id: user.id },
        action: 'session.opened',
        target: { kind: 'session', id: session.id },
        ...(client !== undefined && { changes: { client } }),
        ...(directorySession !== undefined && { changes: { by: 'directory' } }),
        ...(passkeyId !== undefined && { changes: { by: 'passkey', passkey_id: passkeyId } }),
        origin,
      });
      return { user, token, expiresAt: session.expiresAt() };
    },

    end,
    logout: (principal, origin) => end(principal, principal.sessionId, origin),

    // Whether one is alive, only the session knows: they are few, and filtered here.
    async list({ userId }, query) {
      const now = present();
      const open = await em.fork().find(Session, { user: userId, revokedAt: null });
      const live = open.filter((session) => session.isLive(now));
      return SESSIONS.pageOf(live, query, ({ lastUsedAt, id }) => [`${lastUsedAt.getTime()}`, id]);
    },

    async authenticate(token) {
      if (!isSessionToken(token)) throw refused('malformed session token');
      const unit = em.fork();
      const session = await unit.findOne(Session, { tokenHash: sessionTokenHash(token) }, { populate: ['user.account'] });
      const now = present();
      if (!session) throw refused('unknown session token');
      if (!session.isLive(now)) throw refused(session.revokedAt ? 'session revoked' : 'session expired');
      session.touch(now);
      await unit.flush();
      return grantOf(session, planOf);
    },
  };
}

/**
 * For changes that must not outlive the login: looks at the session as it is now, in the transaction of the change.
 * @throws Problem `invalid_credentials`
 */
export async function requireLiveSession(unit: EntityManager, sessionId: string, now: Date): Promise<void> {
  const session = await unit.findOne(Session, { id: sessionId });
  if (!session?.isLive(now)) throw refused('the session ended while its request was under way');
}

/**
 * For what makes more sessions, and ways to them: a stolen one must not be able to.
 * @throws Problem `invalid_credentials`, `recent_login_required`
 */
export async function requireFreshSession(unit: EntityManager, sessionId: string, now: Date): Promise<void> {
  const session = await unit.findOne(Session, { id: sessionId });
  if (!session?.isLive(now)) throw refused('the session ended while its request was under way');
  if (!session.isFresh(now))
    throw new Problem(
      'recent_login_required',
      'Log in again first: this session was opened more than fifteen minutes ago, or by a program.',
    );
}

/** Ends all sessions of a user but one, for what makes older logins doubtful. Resolves to how many there were. */
export async function endSessions(
  unit: EntityManager,
  { userId, except, now }: { userId: string; except?: string; now: Date },
): Promise<number> {
  const living = tables.updateTable('sessions').set({ revoked_at: now }).where('user_id', '=', userId).where('revoked_at', 'is', null);
  return run(inUnit(unit), living.where('id', 'is distinct from', except ?? null));
}

const grantOf = ({ id, user }: Session, planOf: PlanOfAccount): SessionGrant => ({
  principal: {
    kind: 'session',
    sessionId: id,
    userId: user.id,
    accountId: user.account.id,
    role: user.role,
    accountRole: user.accountRole,
  },
  monthlyCap: null,
  plan: planOf({ plan: user.account.plan ?? null, givenPlan: user.account.givenPlan ?? null }),
});

const refused = (because: string): Problem =>
  new Problem('invalid_credentials', 'The session is not valid or has ended: log in again.', { because });
