import { defineEntity, p } from '@mikro-orm/core';
import { User } from './user.ts';

const DAY_MS = 86_400_000;
const IDLE_MS = 30 * DAY_MS;
/** No session is older than that. */
export const ABSOLUTE_MS = 90 * DAY_MS;
const TOUCH_INTERVAL_MS = 60_000;
const FRESH_MS = 15 * 60_000;

export const SessionSchema = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).fieldName('user_id'),
    tokenHash: p.blob().fieldName('token_hash').hidden(),
    createdAt: p.datetime().fieldName('created_at'),
    lastUsedAt: p.datetime().fieldName('last_used_at'),
    revokedAt: p.datetime().fieldName('revoked_at').nullable(),
    ipAddress: p.text().fieldName('ip_address').nullable(),
    userAgent: p.text().fieldName('user_agent').nullable(),
    directorySession: p.text().fieldName('directory_session').nullable(),
    passkeyId: p.uuid().fieldName('passkey_id').nullable(),
    isByDevice: p.boolean().fieldName('is_by_device').defaultRaw('false'),
  },
});

/** A signed-in browser or terminal: lives 30 days from its last use, 90 days at most. */
export class Session extends SessionSchema.class {
  expiresAt(): Date {
    return new Date(Math.min(this.lastUsedAt.getTime() + IDLE_MS, this.createdAt.getTime() + ABSOLUTE_MS));
  }

  isLive(now: Date): boolean {
    return this.revokedAt === null && now < this.expiresAt();
  }

  /** Its user has just shown all that a login asks for. One that a browser has given to a program shows nothing of the kind. */
  isFresh(now: Date): boolean {
    return !this.isByDevice && now.getTime() - this.createdAt.getTime() < FRESH_MS;
  }

  /** Slides the idle limit, in steps of a minute: a busy session must not write a row per request. */
  touch(now: Date): void {
    if (now.getTime() - this.lastUsedAt.getTime() >= TOUCH_INTERVAL_MS) this.lastUsedAt = now;
  }

  /** Keeps the first time: a second logout does not rewrite when the session ended. */
  revoke(now: Date): void {
    this.revokedAt ??= now;
  }
}
SessionSchema.setClass(Session);
