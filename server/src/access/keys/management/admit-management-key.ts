import type { Pool } from 'pg';
import type { ManagementGrant } from '../../../http/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { Problem } from '../../../kernel/problem.ts';
import { firstOf, type Queryable, type RowOf, run } from '../../../kernel/statements.ts';
import type { Users } from '../../identity/index.ts';
import { parseKey } from '../key-secret.ts';
import { matchesSecret, statusOf } from '../key-verification.ts';
import { tables } from '../tables.ts';
import { isWithin } from './address-ranges.ts';
import type { ManagementKeyEntity } from './entities.ts';

const TOUCH_INTERVAL_MS = 60_000;

interface AdmitDeps {
  readonly pool: Pool;
  readonly users: Pick<Users, 'ownerOf'>;
  readonly clock: Clock;
}

/** Proves management keys. They are few and do little: each use reads the key and its maker's role, so that a revocation counts at once. */
export interface ManagementKeyDirectory {
  /** @throws Problem `invalid_credentials` for what is no good key, `address_not_allowed` */
  authenticate(plainKey: string, address: string | null): Promise<ManagementGrant>;
}

export const createManagementKeyDirectory = ({ pool, users, clock }: AdmitDeps): ManagementKeyDirectory => ({
  async authenticate(plainKey, address) {
    const parts = parseKey(plainKey);
    if (parts?.kind !== 'mgmt') throw refused('malformed management key or wrong checksum');
    const row = await firstOf(pool, tables.selectFrom('management_keys').selectAll().where('lookup_id', '=', parts.lookupId));
    const now = new Date(clock.now());
    if (!row || !matchesSecret(verifiableKeyOf(row), parts.secret, now)) throw refused(row ? 'wrong secret' : 'unknown management key');
    const status = statusOf(verifiableKeyOf(row), now);
    if (status !== 'active') throw refused(`management key ${status}`);
    // Only who holds the secret is told that it is the address.
    if (row.allowed_addresses && !isWithin(address, row.allowed_addresses)) throw elsewhere(address);
    const maker = await users.ownerOf(row.user_id);
    if (!maker) throw refused('its maker is gone');
    await touch(pool, row, now);
    return {
      principal: {
        ...{ kind: 'management', managementKeyId: row.id, accountId: row.account_id, userId: row.user_id },
        // With the rights of its maker as they are now; owners are made and changed by people.
        ...{ role: maker.role, accountRole: maker.accountRole === 'owner' ? 'admin' : maker.accountRole },
        ...{ scopes: new Set(row.scopes), livemode: true },
      },
      monthlyCap: null,
      plan: maker.plan,
    };
  },
});

type ManagementKeyRow = RowOf<typeof ManagementKeyEntity>;

export const verifiableKeyOf = (row: Omit<ManagementKeyRow, 'created_at'>) => ({
  ...{ id: row.id, livemode: true, secretHash: row.secret_hash },
  ...{ previousSecretHash: row.previous_secret_hash, previousExpiresAt: row.previous_expires_at },
  ...{ expiresAt: row.expires_at, revokedAt: row.revoked_at },
});

/** In steps of a minute: a busy key must not write a row per request. */
async function touch(db: Queryable, { id, last_used_at }: ManagementKeyRow, now: Date): Promise<void> {
  if (last_used_at !== null && now.getTime() - last_used_at.getTime() < TOUCH_INTERVAL_MS) return;
  await run(db, tables.updateTable('management_keys').set({ last_used_at: now }).where('id', '=', id));
}

const refused = (because: string): Problem =>
  new Problem(
    'invalid_credentials',
    'The management key is not valid: check that it was copied whole and has not been revoked or rotated.',
    { because },
  );

const elsewhere = (address: string | null): Problem =>
  new Problem('address_not_allowed', `The management key does not work from ${address ?? 'an unknown address'}.`, {
    because: 'outside of the allowed addresses',
  });
