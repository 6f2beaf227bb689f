import type { EntityManager } from '@mikro-orm/postgresql';
import type { LoginRequest } from '@tallygate/contract';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { Problem } from '../kernel/problem.ts';
import type { Peer } from './handlers.ts';
import type { Passwords } from './passwords.ts';
import type { SessionGrant, SessionPrincipal } from './principal.ts';
import { Session } from './session.ts';
import { isSessionToken, mintSessionToken, sessionTokenHash } from './session-token.ts';
import { User } from './user.ts';
import type { Users } from './users.ts';

const MAX_USER_AGENT = 300;

/** A fresh session; the plain token exists here and nowhere else. */
export interface SignedIn {
  readonly user: User;
  readonly token: string;
  readonly expiresAt: Date;
}

export interface Sessions {
  /** @throws Problem `invalid_credentials`, the same and after the same work for an unknown address and for a wrong password */
  login(credentials: LoginRequest, peer: Peer): Promise<SignedIn>;
  /** Ends the caller's own session; ending it twice changes nothing. */
  logout(principal: SessionPrincipal): Promise<void>;
  /** @throws Problem `invalid_credentials` for anything that is not a live session's token */
  authenticate(token: string): Promise<SessionGrant>;
}

interface SessionsDeps {
  readonly em: EntityManager;
  readonly users: Users;
  readonly passwords: Passwords;
  readonly clock: Clock;
}

export function createSessions({ em, users, passwords, clock }: SessionsDeps): Sessions {
  return {
    async login({ email, password }, peer) {
      const user = await users.findByEmail(email);
      const isRight = await passwords.verify(password, user?.passwordHash);
      if (!user || !isRight)
        throw new Problem('invalid_credentials', 'The e-mail address and the password do not belong together.', {
          because: user ? 'wrong password' : 'unknown e-mail address',
        });
      const token = mintSessionToken();
      const session = await open(user, token, peer);
      return { user, token, expiresAt: session.expiresAt() };
    },

    async logout({ sessionId }) {
      const unit = em.fork();
      const session = await unit.findOneOrFail(Session, { id: sessionId });
      session.revoke(new Date(clock.now()));
      await unit.flush();
    },

    async authenticate(token) {
      if (!isSessionToken(token)) throw refused('malformed session token');
      const unit = em.fork();
      const session = await unit.findOne(Session, { tokenHash: sessionTokenHash(token) }, { populate: ['user.account'] });
      const now = new Date(clock.now());
      if (!session) throw refused('unknown session token');
      if (!session.isLive(now)) throw refused(session.revokedAt ? 'session revoked' : 'session expired');
      session.touch(now);
      await unit.flush();
      return grantOf(session);
    },
  };

  async function open(user: User, token: string, peer: Peer): Promise<Session> {
    const unit = em.fork();
    const now = new Date(clock.now());
    const session = unit.create(Session, {
      id: newId(),
      user: unit.getReference(User, user.id),
      tokenHash: sessionTokenHash(token),
      createdAt: now,
      lastUsedAt: now,
      ipAddress: peer.address,
      userAgent: peer.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    });
    await unit.flush();
    return session;
  }
}

const grantOf = ({ id, user }: Session): SessionGrant => ({
  principal: { kind: 'session', sessionId: id, userId: user.id, accountId: user.account.id, role: user.role },
  monthlyCap: null,
  plan: user.account.plan,
});

const refused = (because: string): Problem =>
  new Problem('invalid_credentials', 'The session is not valid or has ended: log in again.', { because });
