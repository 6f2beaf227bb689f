import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { KeyDirectory, KeyGrant } from './key-directory.ts';
import { type KeyParts, kindOf, parseKey } from './key-secret.ts';
import { matchesSecret, statusOf, type VerifiableKey } from './key-verification.ts';
import type { LastUse } from './last-use.ts';

/** Keys held in memory; a key takes about 2 kB with its grant. */
const MAX_KNOWN = 50_000;
/** A typo or a scanner repeats itself: it costs one read a second, and a key made meanwhile elsewhere is never missed for longer. */
const MISSING_TTL_MS = 1000;
const MAX_MISSING = 10_000;

/** A key as it stands in the database, and what it grants. */
export interface KnownKey {
  readonly key: VerifiableKey;
  readonly grant: KeyGrant;
}

/** Reads a key by the id part of its plain form; `undefined` when there is none. */
export type ReadKey = (lookupId: string) => Promise<KnownKey | undefined>;

interface CachedKeyDirectoryDeps {
  readonly read: ReadKey;
  readonly lastUse: LastUse;
  readonly clock: Clock;
}

/**
 * Remembers keys for as long as it hears of their changes. It starts disconnected and reads every time, until `listening()`; after `disconnected()`
 * everything is dropped, because a revocation may go by unheard.
 */
export class CachedKeyDirectory implements KeyDirectory {
  readonly #deps: CachedKeyDirectoryDeps;
  readonly #known = new RecentMap<string, KnownKey>(MAX_KNOWN);
  /** Lookup ids that had no key, with the time (ms) until which that is believed. */
  readonly #missing = new RecentMap<string, number>(MAX_MISSING);
  readonly #reads = new Map<string, Promise<KnownKey | undefined>>();
  #isListening = false;

  constructor(deps: CachedKeyDirectoryDeps) {
    this.#deps = deps;
  }

  authenticate(plainKey: string): KeyGrant | Promise<KeyGrant> {
    const parts = parseKey(plainKey);
    if (!parts) throw refused('malformed key or wrong checksum');
    const known = this.#known.get(parts.lookupId);
    if (known) return this.#open(known, parts);
    const missingUntil = this.#missing.get(parts.lookupId);
    if (missingUntil !== undefined && this.#deps.clock.now() < missingUntil) throw refused('unknown key');
    return this.#readOnce(parts.lookupId).then((found) => this.#open(found, parts));
  }

  /** What the `tallygate_keys` channel says: a lookup id, or `account:<id>` when the plan or a role of the account changed. */
  changed(payload: string): void {
    if (payload.startsWith('account:')) this.#forgetAccount(payload.slice('account:'.length));
    else this.forget(payload);
  }

  /** For changes made through this process: in effect when this returns. */
  forget(lookupId: string): void {
    this.#known.delete(lookupId);
    this.#missing.delete(lookupId);
    // A read under way may have seen the row before the change: nobody else may join it, and it may not be remembered.
    this.#reads.delete(lookupId);
  }

  /** Changes are heard from now on. What is remembered from here was read after that moment. */
  listening(): void {
    this.#forgetAll();
    this.#isListening = true;
  }

  /** The listening connection is lost: until it is back, every key is read from the database. */
  disconnected(): void {
    this.#isListening = false;
    this.#forgetAll();
  }

  async close(): Promise<void> {
    this.disconnected();
    await this.#deps.lastUse.close();
  }

  /** Secret, grace and expiry are judged at every use, by the clock: none of them needs a message. */
  #open(known: KnownKey | undefined, { secret, kind }: KeyParts): KeyGrant {
    const now = new Date(this.#deps.clock.now());
    if (!known) throw refused('unknown key');
    if (kindOf(known.key) !== kind || !matchesSecret(known.key, secret, now)) throw refused('wrong secret');
    const status = statusOf(known.key, now);
    if (status !== 'active') throw refused(`key ${status}`);
    this.#deps.lastUse.note(known.key.id, now);
    return known.grant;
  }

  #readOnce(lookupId: string): Promise<KnownKey | undefined> {
    const running = this.#reads.get(lookupId);
    if (running !== undefined) return running;
    const read = this.#deps.read(lookupId).then(
      (found) => {
        if (this.#reads.get(lookupId) === read) this.#remember(lookupId, found);
        return found;
      },
      (error: unknown) => {
        if (this.#reads.get(lookupId) === read) this.#reads.delete(lookupId);
        throw error;
      },
    );
    this.#reads.set(lookupId, read);
    return read;
  }

  #remember(lookupId: string, found: KnownKey | undefined): void {
    this.#reads.delete(lookupId);
    if (!this.#isListening) return;
    if (found) this.#known.set(lookupId, found);
    else this.#missing.set(lookupId, this.#deps.clock.now() + MISSING_TTL_MS);
  }

  #forgetAccount(accountId: string): void {
    this.#known.deleteWhere(({ grant }) => grant.principal.accountId === accountId);
    // Whose keys are being read right now is not known yet, so none of those reads may be remembered.
    this.#reads.clear();
  }

  #forgetAll(): void {
    this.#known.clear();
    this.#missing.clear();
    this.#reads.clear();
  }
}

const refused = (because: string): Problem =>
  new Problem('invalid_credentials', 'The API key is not valid: check that it was copied whole and has not been revoked or rotated.', {
    because,
  });
