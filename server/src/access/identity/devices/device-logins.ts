import type { EntityManager } from '@mikro-orm/postgresql';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { inUnit } from '../../../kernel/statements.ts';
import { inUnitOfWork } from '../../../kernel/transaction.ts';
import { requireFreshSession, requireLiveSession, type Sessions, type SignedIn } from '../sessions.ts';
import { guessingLimits, tokenLimits } from '../throttle/limits.ts';
import type { Throttle } from '../throttle/throttle.ts';
import { lockUser } from '../users.ts';
import { askedFor, type Codes, decide, openDeviceLogin, type Pending, pendingWith, type Standing, spendApproval } from './device-codes.ts';

/** Logins of programs that somebody approves in a browser: the device authorization grant (RFC 8628). */
export interface DeviceLogins {
  /** @throws Problem `rate_limited` for a network that begins many */
  begin(clientName: string, origin: Origin): Promise<Codes>;
  /** @throws Problem `authorization_pending`, `slow_down`, `access_denied`, `expired_token` */
  take(deviceCode: string, origin: Origin): Promise<SignedIn>;
  /** @throws Problem `not_found`, `rate_limited` for whoever guesses */
  find(principal: SessionPrincipal, userCode: string, origin: Origin): Promise<Pending>;
  /** @throws Problem `not_found`, `rate_limited`, `recent_login_required` */
  approve(principal: SessionPrincipal, userCode: string, origin: Origin): Promise<void>;
  /** @throws Problem `not_found`, `rate_limited` */
  deny(principal: SessionPrincipal, userCode: string, origin: Origin): Promise<void>;
}

interface DeviceLoginsDeps {
  readonly em: EntityManager;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly clock: Clock;
}

export function createDeviceLogins({ em, sessions, throttle, clock }: DeviceLoginsDeps): DeviceLogins {
  const present = () => new Date(clock.now());

  /** Only wrong codes count. Guessing takes a session, so a guesser is somebody, and meets the brakes of a login. */
  async function withCode<Found>({ userId }: SessionPrincipal, { ip }: Origin, look: () => Promise<Found | undefined>): Promise<Found> {
    const admitted = await throttle.admit(guessingLimits({ kind: 'user-code', subject: userId, address: ip }, false));
    const found = await look();
    if (!found) throw new Problem('not_found', 'No login waits for this code: compare it with the one that the program shows.');
    await admitted.succeeded();
    return found;
  }

  const settle = (
    principal: SessionPrincipal,
    { userCode, decision }: { userCode: string; decision: 'approved' | 'denied' },
    origin: Origin,
  ) =>
    withCode(principal, origin, () =>
      inUnitOfWork(em, async (unit) => {
        const now = present();
        // Locked as at a login, so that a new password cannot slip in between and leave the approval behind.
        await lockUser(unit, principal.userId);
        await (decision === 'approved' ? requireFreshSession : requireLiveSession)(unit, principal.sessionId, now);
        const decided = await decide(unit, { userCode, userId: principal.userId, decision, now });
        if (!decided) return undefined;
        await recordAudit(inUnit(unit), {
          accountId: principal.accountId,
          actor: actorOf(principal),
          action: `device_login.${decision}`,
          target: { kind: 'device_login', id: decided.id },
          changes: { client: decided.clientName, asked_from: decided.ipAddress },
          origin,
        });
        return decided;
      }),
    );

  return {
    async begin(clientName, origin) {
      await throttle.admit(tokenLimits('device-login', origin.ip));
      return openDeviceLogin(em.fork(), clientName, origin, present());
    },

    async take(deviceCode, origin) {
      const standing = await askedFor(em.fork(), deviceCode, present());
      if (standing.is !== 'approved') throw notYet(standing);
      const { userId } = standing;
      return inUnitOfWork(em, async (unit) => {
        const user = await lockUser(unit, userId);
        const client = user && (await spendApproval(unit, deviceCode, userId, present()));
        if (!user || client === undefined) throw expired('taken by another request, or withdrawn meanwhile');
        return sessions.open(unit, user, origin, { client });
      });
    },

    find: (principal, userCode, origin) => withCode(principal, origin, () => pendingWith(em.fork(), userCode, present())),
    approve: async (principal, userCode, origin) => void (await settle(principal, { userCode, decision: 'approved' }, origin)),
    deny: async (principal, userCode, origin) => void (await settle(principal, { userCode, decision: 'denied' }, origin)),
  };
}

function notYet(standing: Exclude<Standing, { is: 'approved' }>): Problem {
  if (standing.is === 'denied') return new Problem('access_denied', 'The login was turned away in the browser.');
  if (standing.is === 'unknown') return expired('unknown, used or too old');
  const { isTooSoon, intervalSeconds } = standing;
  return isTooSoon
    ? new Problem('slow_down', `Ask every ${intervalSeconds} seconds, not more often.`, { retryAfterSeconds: intervalSeconds })
    : new Problem('authorization_pending', 'Nobody has decided in the browser yet: ask again.', { retryAfterSeconds: intervalSeconds });
}

const expired = (because: string): Problem =>
  new Problem('expired_token', 'The device code was used or has expired: begin the login again.', { because });
