import type { KeyObject } from 'node:crypto';
import type { KeyPrincipal } from '../../http/index.ts';
import type { NanoUsd } from '../../kernel/money.ts';
import type { SpendingRules } from '../../money/limits/index.ts';
import type { DedicatedCapacity } from '../identity/index.ts';

/** How a key's requests are signed (RFC 9421). */
export interface SigningRequirement {
  /** Base64url of the 32 bytes. */
  readonly publicKey: string;
  readonly verifier: KeyObject;
  /** Unsigned requests are refused. */
  readonly isRequired: boolean;
}

/** What narrows one key, beside its cap. Null: not narrowed in this respect. */
export interface KeyLimits {
  readonly models: ReadonlySet<string> | null;
  readonly endpoints: ReadonlySet<string> | null;
  readonly rates: {
    readonly requestsPerMinute: number | null;
    readonly tokensPerMinute: number | null;
    readonly concurrency: number | null;
  } | null;
  readonly signing: SigningRequirement | null;
}

/** What a client secret says. */
export interface ClientSecretGrant {
  readonly session: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly keyId: string;
  readonly accountId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** What the hot path knows of a key: everything admission needs, so that it reads no SQL. */
export interface KeyGrant {
  readonly principal: KeyPrincipal;
  /** Hard cap of a UTC calendar month; null for none. */
  readonly monthlyCap: NanoUsd | null;
  /** Id of the account's plan (`free`, `pro`, `scale`, `enterprise`). */
  readonly plan: string;
  /** The project that the key belongs to; absent where it belongs to none. */
  readonly projectId?: string;
  /** The limits of its account; absent where it has none. */
  readonly spending?: SpendingRules;
  /** Absent where nothing narrows the key. */
  readonly limits?: KeyLimits;
  /** What its account has reserved by contract; absent without one. */
  readonly dedicated?: DedicatedCapacity;
  /** It was proven by a client secret, which opens realtime sessions alone: what those are set to. */
  readonly clientSecret?: ClientSecretGrant;
  /** The request came on the address for dedicated traffic. */
  readonly isDedicated?: true;
}

/**
 * Finds the grant of a plain key. Hot keys answer from memory, synchronously; a key that is not in memory is read once.
 * A revoked, rotated, expired or re-capped key is seen by every instance within a second (PostgreSQL LISTEN/NOTIFY; while the
 * listening connection is down, nothing is answered from memory).
 */
export interface KeyDirectory {
  /** Throws `Problem('invalid_credentials')` for anything that is not a good key. */
  authenticate(plainKey: string): KeyGrant | Promise<KeyGrant>;
  close(): Promise<void>;
}
