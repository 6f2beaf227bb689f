import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CreateKeyRequest } from '@tallygate/contract';
import type { Principal, SessionPrincipal } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import { parseUsd } from '../kernel/money.ts';
import { Problem } from '../kernel/problem.ts';
import { ApiKey, DEFAULT_ALERT_THRESHOLDS } from './api-key.ts';
import { formatKey, newLookupId, newSecret, secretHash } from './key-secret.ts';

/** The PostgreSQL channel on which every instance hears of changed keys. */
export const KEYS_CHANNEL = 'tallygate_keys';

/** A key with its plain form, which exists here and nowhere else. */
export interface PlainKey {
  readonly key: ApiKey;
  readonly plainKey: string;
}

/** The key's rights come from the caller; whoever asks sees the keys of their own account and no others. */
export interface Keys {
  /** @throws Problem `validation_failed` when the key would be expired from the start */
  create(principal: Pick<SessionPrincipal, 'accountId' | 'userId'>, input: CreateKeyRequest): Promise<PlainKey>;
  /** All keys of the account, newest first. */
  list(principal: Principal): Promise<ApiKey[]>;
  /** @throws Problem `not_found`, also for another account's key */
  get(principal: Principal, keyId: string): Promise<ApiKey>;
  /** Repeating it changes nothing. @throws Problem `not_found` */
  revoke(principal: Principal, keyId: string): Promise<void>;
  /**
   * Runs `effect` on a key that nobody else can change meanwhile. What it changes, what it writes through `unit` and the announcement to
   * all instances commit together; when this resolves, this instance goes by the new key.
   * @throws Problem `not_found`
   */
  change<Result>(principal: Principal, keyId: string, effect: Effect<Result>): Promise<Result>;
  /** @throws Problem `not_found`; `conflict` for a key that is not active; `scope_required` or `forbidden` when the key would exceed the caller */
  rotate(principal: Principal, keyId: string, graceSeconds: number): Promise<PlainKey>;
}

type Effect<Result> = (key: ApiKey, unit: EntityManager) => Result | Promise<Result>;

interface KeysDeps {
  readonly em: EntityManager;
  readonly clock: Clock;
  /** This process's own directory: it must not need the round trip through PostgreSQL to know. */
  readonly directory: { forget(lookupId: string): void };
}

export function createKeys({ em, clock, directory }: KeysDeps): Keys {
  const present = () => new Date(clock.now());

  async function change<Result>(principal: Principal, keyId: string, effect: Effect<Result>): Promise<Result> {
    const { lookupId, result } = await em.fork().transactional(async (unit) => {
      const key = await unit.findOne(ApiKey, ownedBy(principal, keyId), { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!key) throw notFound();
      const effected = await effect(key, unit);
      await announce(unit, key.lookupId);
      return { lookupId: key.lookupId, result: effected };
    });
    directory.forget(lookupId);
    return result;
  }

  return {
    async create({ accountId, userId }, input) {
      const now = present();
      const secret = newSecret();
      const unit = em.fork();
      const key = unit.create(ApiKey, {
        id: newId(),
        accountId,
        userId,
        lookupId: newLookupId(),
        name: input.name,
        livemode: input.livemode,
        scopes: [...new Set(input.scopes)],
        secretHash: secretHash(secret),
        monthlyCap: input.monthly_cap_usd === undefined ? null : (parseUsd(input.monthly_cap_usd) ?? null),
        alertThresholds: [...DEFAULT_ALERT_THRESHOLDS],
        createdAt: now,
        expiresAt: expiryOf(input, now),
      });
      await unit.flush();
      // No announcement: an instance that believes for a second that there is no such id cannot have been asked for it.
      directory.forget(key.lookupId);
      return { key, plainKey: formatKey({ livemode: key.livemode, lookupId: key.lookupId, secret }) };
    },

    list: ({ accountId }) => em.fork().find(ApiKey, { accountId }, { orderBy: { id: 'desc' } }),

    async get(principal, keyId) {
      const key = await em.fork().findOne(ApiKey, ownedBy(principal, keyId));
      if (!key) throw notFound();
      return key;
    },

    change,

    async revoke(principal, keyId) {
      await change(principal, keyId, (key) => key.revoke(present()));
    },

    async rotate(principal, keyId, graceSeconds) {
      const secret = newSecret();
      const key = await change(principal, keyId, (found) => {
        const now = present();
        refuseEscalation(principal, found);
        if (!found.isUsable(now)) throw new Problem('conflict', `The API key is ${found.status(now)}: create a new one instead.`);
        found.rotate(secret, now, graceSeconds);
        return found;
      });
      return { key, plainKey: formatKey({ livemode: key.livemode, lookupId: key.lookupId, secret }) };
    },
  };
}

/** In the query and not after it: another account's key is not even read. */
const ownedBy = ({ accountId }: Principal, id: string) => ({ id, accountId });

const notFound = (): Problem => new Problem('not_found', 'There is no such API key in this account: GET /v1/keys lists its keys.');

const announce = (unit: EntityManager, lookupId: string): Promise<unknown> =>
  unit.execute('select pg_notify(?, ?)', [KEYS_CHANNEL, lookupId]);

function expiryOf({ expires_at }: CreateKeyRequest, now: Date): Date | null {
  if (expires_at === undefined) return null;
  const expiresAt = new Date(expires_at);
  if (expiresAt > now) return expiresAt;
  const msg = 'Expected a time in the future';
  throw new Problem('validation_failed', 'body.expires_at: the key would be expired from the start.', {
    param: 'expires_at',
    errors: [{ loc: ['body', 'expires_at'], msg, type: 'too_small' }],
  });
}

/** Rotation hands out a working secret, so a key that may rotate others could otherwise rise to whatever any of them may do. */
function refuseEscalation(principal: Principal, key: ApiKey): void {
  if (principal.kind === 'session') return;
  const exceeding = key.scopes.find((scope) => !principal.scopes.has(scope));
  if (exceeding)
    throw new Problem('scope_required', `The API key to be rotated carries the scope ${exceeding}, which the caller's own key lacks.`);
  if (key.livemode && !principal.livemode)
    throw new Problem('forbidden', 'A test key cannot rotate a live key: use a live key or a session.');
}
