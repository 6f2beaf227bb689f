import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, randomBase62 } from '../../kernel/ids.ts';

const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const WELL_FORMED = /^tg_(live|test|mgmt)_([0-9A-Za-z]{12})([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** The word in the prefix: what a key opens. */
type KeyKind = 'live' | 'test' | 'mgmt';

/** The parts of a plain key: `tg_live_<12 id><32 secret><6 checksum>`, base62. */
export interface KeyParts {
  readonly kind: KeyKind;
  /** Finds the key and opens nothing. */
  readonly lookupId: string;
  /** 190 random bits. */
  readonly secret: string;
}

export const newLookupId = (): string => randomBase62(ID_LENGTH);
export const newSecret = (): string => randomBase62(SECRET_LENGTH);

/** Of an API key. */
export const kindOf = ({ livemode }: { readonly livemode: boolean }): KeyKind => (livemode ? 'live' : 'test');

/** The part that may be shown: `tg_live_4f0Zk1x8QbRm`. */
export const keyPrefix = ({ kind, lookupId }: Pick<KeyParts, 'kind' | 'lookupId'>): string => `tg_${kind}_${lookupId}`;

export function formatKey(parts: KeyParts): string {
  const text = keyPrefix(parts) + parts.secret;
  return text + checksum(text);
}

/** `undefined` for whatever cannot be a key, so that a typo is refused without a look-up and scanners can tell keys from noise. */
export function parseKey(plainKey: string): KeyParts | undefined {
  const [, kind, lookupId, secret, sum] = WELL_FORMED.exec(plainKey) ?? [];
  if (!lookupId || !secret || checksum(plainKey.slice(0, -CHECKSUM_LENGTH)) !== sum) return undefined;
  return { kind: kind === 'live' || kind === 'test' ? kind : 'mgmt', lookupId, secret };
}

/** The only form in which a secret is stored. A plain hash is enough: there is nothing to guess in 190 random bits. */
export const secretHash = (secret: string): Buffer => hash('sha256', secret, 'buffer');

const checksum = (text: string): string => base62(crc32(text), CHECKSUM_LENGTH);
