import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import type { VaasKeySet } from '@tallygate/contract';
import { type KeyPurpose, keyThumbprint, toVerifierKey } from '@tallygate/receipts';
import type { Pool, PoolClient } from 'pg';
import { rfc3339 } from '../kernel/clock.ts';
import { rowsOf } from '../kernel/statements.ts';
import { tables } from './tables.ts';

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** Public key, base64url. */
  readonly x: string;
}

/** RFC 8410: the fixed ASN.1 head of a PKCS #8 Ed25519 private key, before its 32 bytes of seed. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

export const newSigningSeed = (): Buffer => randomBytes(SEED_BYTES);

/** @throws when the seed is not 32 bytes */
export function signingKeyFromSeed(seed: Buffer): SigningKey {
  if (seed.length !== SEED_BYTES) throw new Error(`An Ed25519 seed has ${SEED_BYTES} bytes, this one has ${seed.length}`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { kid: keyThumbprint(x), privateKey, x };
}

/**
 * The key that signs promises of receipts, made from the key that signs receipts (RFC 5869): promises are signed with nonces that were made ahead,
 * and whatever were to become of one of those, the receipt key has no part in it.
 */
export function promiseKeyOf(receiptKey: SigningKey): SigningKey {
  const seed = hkdfSync('sha256', seedOf(receiptKey), '', 'tallygate-promise-key/v1', SEED_BYTES);
  return signingKeyFromSeed(Buffer.from(seed));
}

/** The secret of a key, 32 bytes. */
export function seedOf({ privateKey }: SigningKey): Buffer {
  const { d = '' } = privateKey.export({ format: 'jwk' });
  return Buffer.from(d, 'base64url');
}

/** 32 bytes. */
export const publicBytes = (x: string): Uint8Array => Buffer.from(x, 'base64url');

/** To check signatures with. */
export const publicKeyOf = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

/**
 * Makes these the keys in force: published from now on, every other one of the purpose retired. Doing it again changes nothing. More than one
 * is how keys change without a gap: the next one is known before it signs, the one before is valid until no instance signs with it.
 */
export async function publishSigningKeys(
  db: Pool | PoolClient,
  keys: readonly SigningKey[],
  now: number,
  purpose: KeyPurpose = 'receipt',
): Promise<void> {
  await db.query(
    `with published as (
       insert into signing_keys (kid, purpose, x, not_before) select kid, $5, x, $3 from unnest($1::text[], $2::text[]) as given (kid, x)
       on conflict (kid) do update set not_after = null returning kid)
     update signing_keys set not_after = $4 where purpose = $5 and not_after is null and kid <> all (select kid from published)`,
    [keys.map(({ kid }) => kid), keys.map(({ x }) => x), new Date(now), new Date(now), purpose],
  );
}

/** As they stand in the database, whoever has written them there: what is given away is {@link publishedKeySet}. */
export async function storedKeySet(pool: Pool): Promise<VaasKeySet> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom(['signing_keys', 'receipt_log'])
      .select(['kid', 'x', 'purpose', 'not_before', 'not_after', 'origin'])
      .orderBy('purpose', 'desc')
      .orderBy('not_before', 'desc')
      .orderBy('kid'),
  );
  return {
    keys: rows.map(({ kid, x, purpose, not_before, not_after, origin }) => {
      const key = { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } as const;
      const validity = { not_before: rfc3339(not_before), not_after: not_after && rfc3339(not_after) };
      if (purpose !== 'checkpoint') return { ...key, purpose, ...validity };
      const verifierKey = toVerifierKey({ name: origin, kind: 'signature', publicKey: publicBytes(x) });
      return { ...key, purpose, verifier_key: verifierKey, ...validity };
    }),
  };
}
