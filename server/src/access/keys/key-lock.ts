import { timingSafeEqual } from 'node:crypto';
import { secretHash } from './key-secret.ts';

export type KeyStatus = 'active' | 'expired' | 'revoked';

/** What decides whether a key opens: the row itself, or a plain copy of these columns, which is read twenty times as fast as an entity. */
export interface KeyLock {
  readonly id: string;
  readonly livemode: boolean;
  readonly secretHash: Uint8Array;
  readonly previousSecretHash?: Uint8Array | null | undefined;
  readonly previousExpiresAt?: Date | null | undefined;
  readonly expiresAt?: Date | null | undefined;
  readonly revokedAt?: Date | null | undefined;
}

/** A copy for the hot path. It does not follow the row: whoever keeps it has to hear of changes. */
export const lockOf = (key: KeyLock): KeyLock =>
  Object.freeze({
    id: key.id,
    livemode: key.livemode,
    secretHash: key.secretHash,
    previousSecretHash: key.previousSecretHash ?? null,
    previousExpiresAt: key.previousExpiresAt ?? null,
    expiresAt: key.expiresAt ?? null,
    revokedAt: key.revokedAt ?? null,
  });

export function statusOf({ revokedAt, expiresAt }: KeyLock, now: Date): KeyStatus {
  if (revokedAt) return 'revoked';
  return expiresAt && now >= expiresAt ? 'expired' : 'active';
}

/** When the secret before the last rotation dies; `undefined` when none is left. */
export const graceEndsAt = ({ previousExpiresAt }: KeyLock, now: Date): Date | undefined =>
  previousExpiresAt && now < previousExpiresAt ? previousExpiresAt : undefined;

/** Compares in constant time; says nothing of whether the key is usable. */
export function isOpenedBy(lock: KeyLock, secret: string, now: Date): boolean {
  const presented = secretHash(secret);
  if (timingSafeEqual(presented, lock.secretHash)) return true;
  const { previousSecretHash } = lock;
  return Boolean(previousSecretHash && graceEndsAt(lock, now) && timingSafeEqual(presented, previousSecretHash));
}
