import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import { madeOnce } from '../kernel/made-once.ts';
import type { SigningKey } from './signing-keys.ts';

const SEAL_BYTES = 16;

/** A key of the log makes one for seals (RFC 5869), which the database does not have. */
export function sealKeyOf({ privateKey }: SigningKey): Buffer {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  return Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'tallygate-receipt-seal/v1', 32));
}

/** For a key as bytes Node makes such an object each time, which takes ten times as long as the seal. */
const secretKeyOf = madeOnce((sealKey: Buffer) => createSecretKey(sealKey));

/** By which the log knows that the ledger's writer has made a receipt, and nobody who can merely write to the database. */
export const sealOf = (sealKey: Buffer, digest: Buffer): Buffer =>
  createHmac('sha256', secretKeyOf(sealKey)).update(digest).digest().subarray(0, SEAL_BYTES);

/** @param sealKeys of every key of the log that is configured: while they change, gateways seal with either */
export const isSealed = (sealKeys: readonly Buffer[], digest: Buffer, seal: Buffer | null): boolean =>
  seal?.length === SEAL_BYTES && sealKeys.some((key) => timingSafeEqual(sealOf(key, digest), seal));
