import { type CreateManagementKeyRequest, type ManagementKey, SCOPE_ROLES } from '@tallygate/contract';
import type { Pool } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../../audit/index.ts';
import type { SessionPrincipal } from '../../../http/index.ts';
import { type Clock, rfc3339 } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { invalidInput } from '../../../kernel/invalid-input.ts';
import { Keyset, mapPage, type Page, type PageQuery } from '../../../kernel/page.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, type Queryable, type RowOf, rowsOf, run } from '../../../kernel/statements.ts';
import { inTransaction } from '../../../kernel/transaction.ts';
import { formatKey, keyPrefix, newLookupId, newSecret, secretHash } from '../key-secret.ts';
import { graceEndsAt, statusOf } from '../key-verification.ts';
import { tables } from '../tables.ts';
import { verifiableKeyOf } from './admit-management-key.ts';
import type { ManagementKeyEntity } from './entities.ts';

type ManagementKeyRow = RowOf<typeof ManagementKeyEntity>;

/** With its plain form, which exists here and nowhere else. */
export interface PlainManagementKey {
  readonly key: ManagementKey;
  readonly plainKey: string;
}

/** A program provisions an account with one or two of them. */
const MOST_ACTIVE = 50;
const KEYS = new Keyset({ name: 'management-keys', columns: { id: 'uuid' }, direction: 'desc' });

/** Keys of programs that administer one account. People alone make, rotate and revoke them. */
export class ManagementKeys {
  readonly #pool: Pool;
  readonly #clock: Clock;

  constructor({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async list(accountId: string, query: PageQuery): Promise<Page<ManagementKey>> {
    const page = KEYS.page(await rowsOf(this.#pool, KEYS.pageIn(keysOf(accountId), query)), query);
    return mapPage(page, (row) => this.#toWire(row));
  }

  /** @throws Problem `not_found` */
  async get(accountId: string, id: string): Promise<ManagementKey> {
    return this.#toWire(await find(this.#pool, accountId, id));
  }

  /** @throws Problem `validation_failed` for an expiry in the past; `forbidden` for scopes beyond the role; `conflict` beyond the most */
  create(principal: SessionPrincipal, input: CreateManagementKeyRequest, origin: Origin): Promise<PlainManagementKey> {
    const { accountId, userId } = principal;
    const { name, allowed_addresses } = input;
    refuseBeyondRole(principal, input);
    const now = this.#now();
    const expires_at = input.expires_at === undefined ? null : new Date(input.expires_at);
    if (expires_at && expires_at <= now)
      throw invalidInput([{ loc: ['body', 'expires_at'], msg: 'must be a time in the future', type: 'invalid' }]);
    const scopes = [...new Set(input.scopes)];
    const secret = newSecret();
    const lookup_id = newLookupId();
    return inTransaction(this.#pool, async (db) => {
      await requireRoom(db, accountId, now);
      const id = newId();
      const made = { id, account_id: accountId, user_id: userId, lookup_id, name, scopes, allowed_addresses, expires_at };
      await run(db, tables.insertInto('management_keys').values({ ...made, secret_hash: secretHash(secret), created_at: now }));
      await audit(
        db,
        principal,
        { id, action: 'management_key.created', changes: { name, scopes, allowed_addresses, expires_at } },
        origin,
      );
      return {
        key: this.#toWire(await find(db, accountId, id)),
        plainKey: formatKey({ kind: 'mgmt', lookupId: lookup_id, secret }),
      };
    });
  }

  /**
   * Only one earlier secret ever works, for `graceSeconds`. Whoever rotates holds a secret that acts as its maker.
   * @throws Problem `not_found`; `forbidden` for scopes beyond the caller's role; `conflict` for a key that is not active
   */
  rotate(principal: SessionPrincipal, id: string, graceSeconds: number, origin: Origin): Promise<PlainManagementKey> {
    const { accountId } = principal;
    const secret = newSecret();
    return inTransaction(this.#pool, async (db) => {
      const before = await find(db, accountId, id, 'for update');
      refuseBeyondRole(principal, before);
      const now = this.#now();
      const status = statusOf(verifiableKeyOf(before), now);
      if (status !== 'active') throw new Problem('conflict', `The management key is ${status}: create a new one instead.`);
      const rotated = {
        secret_hash: secretHash(secret),
        previous_secret_hash: graceSeconds > 0 ? before.secret_hash : null,
        previous_expires_at: graceSeconds > 0 ? new Date(now.getTime() + graceSeconds * 1000) : null,
        rotated_at: now,
      };
      await run(db, tables.updateTable('management_keys').set(rotated).where('id', '=', id));
      await audit(db, principal, { id, action: 'management_key.rotated', changes: { grace_seconds: graceSeconds } }, origin);
      return {
        key: this.#toWire(await find(db, accountId, id)),
        plainKey: formatKey({ kind: 'mgmt', lookupId: before.lookup_id, secret }),
      };
    });
  }

  /** Repeating it changes nothing. @throws Problem `not_found` */
  revoke(principal: SessionPrincipal, id: string, origin: Origin): Promise<void> {
    return inTransaction(this.#pool, async (db) => {
      const { revoked_at } = await find(db, principal.accountId, id, 'for update');
      if (revoked_at !== null) return;
      await run(db, tables.updateTable('management_keys').set({ revoked_at: this.#now() }).where('id', '=', id));
      await audit(db, principal, { id, action: 'management_key.revoked', changes: {} }, origin);
    });
  }

  #toWire(row: ManagementKeyRow): ManagementKey {
    const now = this.#now();
    const lock = verifiableKeyOf(row);
    return {
      management_key_id: row.id,
      name: row.name,
      prefix: keyPrefix({ kind: 'mgmt', lookupId: row.lookup_id }),
      ...{ scopes: row.scopes, allowed_addresses: row.allowed_addresses, status: statusOf(lock, now) },
      created_by: row.user_id,
      created_at: rfc3339(row.created_at),
      expires_at: timeOrNull(row.expires_at),
      rotated_at: timeOrNull(row.rotated_at),
      previous_secret_expires_at: timeOrNull(graceEndsAt(lock, now) ?? null),
      revoked_at: timeOrNull(row.revoked_at),
      last_used_at: timeOrNull(row.last_used_at),
    };
  }

  #now(): Date {
    return new Date(this.#clock.now());
  }
}

/** A scope that the role does not cover would open what it does not, or wait in the key for the day when they are given the role. @throws Problem `forbidden` */
function refuseBeyondRole({ role }: SessionPrincipal, { scopes }: Pick<CreateManagementKeyRequest, 'scopes'>): void {
  const needs: Readonly<Partial<Record<string, string>>> = SCOPE_ROLES;
  const beyond = scopes.find((scope) => role !== 'admin' && needs[scope] !== undefined && needs[scope] !== role);
  if (beyond)
    throw new Problem('forbidden', `The scope ${beyond} needs the role ${needs[beyond]}: ask an administrator.`, {
      param: 'scopes',
      because: `the caller is ${role}`,
    });
}

async function requireRoom(db: Queryable, accountId: string, now: Date): Promise<void> {
  const counted = tables.selectFrom('management_keys').select(({ fn }) => fn.countAll<string>().as('count'));
  const active = counted
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
  const { count = '0' } = (await firstOf(db, active)) ?? {};
  if (Number(count) >= MOST_ACTIVE)
    throw new Problem('conflict', `An account has at most ${MOST_ACTIVE} active management keys: revoke one first.`);
}

const keysOf = (accountId: string) => tables.selectFrom('management_keys').selectAll().where('account_id', '=', accountId);

async function find(db: Queryable, accountId: string, id: string, lock?: 'for update'): Promise<ManagementKeyRow> {
  // Another account's key is not even read.
  const ours = keysOf(accountId).where('id', '=', id);
  const found = await firstOf(db, lock ? ours.forUpdate() : ours);
  if (!found) throw new Problem('not_found', 'There is no such management key in this account: GET /v1/management-keys lists its keys.');
  return found;
}

interface Told {
  readonly id: string;
  readonly action: `management_key.${string}`;
  readonly changes: Readonly<Record<string, unknown>>;
}

const audit = (db: Queryable, principal: SessionPrincipal, { id, ...told }: Told, origin: Origin): Promise<void> =>
  recordAudit(db, {
    ...{ accountId: principal.accountId, actor: actorOf(principal), origin, ...told },
    target: { kind: 'management_key', id },
  });

const timeOrNull = (at: Date | null): string | null => at && rfc3339(at);
