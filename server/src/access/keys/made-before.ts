import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountRole, CreateKeyRequest } from '@tallygate/contract';
import { parseUsd } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import { inUnit } from '../../kernel/statements.ts';
import { ApiKey, type KeySettings, SETTINGS } from './api-key.ts';

/** What a setting is where nobody has said anything. */
const UNSET: KeySettings = { metadata: {}, requireSignature: false };

/**
 * The key that was made before under the caller's own id of it, which is free again once the key is revoked. Until the transaction ends, nobody
 * else makes one under that id.
 * @throws Problem `conflict` where it is not the key that is asked for now, or is somebody else's and the caller is a developer
 */
export async function madeBefore(
  unit: EntityManager,
  { accountId, userId, accountRole }: { readonly accountId: string; readonly userId: string; readonly accountRole: AccountRole },
  { external_id: externalId, livemode, monthly_cap_usd }: CreateKeyRequest,
  settings: KeySettings,
): Promise<ApiKey | undefined> {
  if (externalId === undefined) return undefined;
  await inUnit(unit).query("select pg_advisory_xact_lock(hashtextextended('key:' || $1 || $2, 0))", [accountId, externalId]);
  const known = await unit.findOne(ApiKey, { accountId, externalId, revokedAt: null });
  if (!known) return undefined;
  const cap = monthly_cap_usd === undefined ? null : (parseUsd(monthly_cap_usd) ?? null);
  const isSame =
    (known.userId === userId || accountRole !== 'developer') &&
    known.livemode === livemode &&
    (known.monthlyCap ?? null) === cap &&
    SETTINGS.every((field) => isDeepStrictEqual(known[field] ?? UNSET[field] ?? null, settings[field] ?? UNSET[field] ?? null));
  if (!isSame)
    throw new Problem('conflict', 'Another API key has this external_id: change that one with PATCH, or take another id.', {
      param: 'external_id',
    });
  return known;
}
