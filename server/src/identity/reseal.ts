import type { Pool, PoolClient } from 'pg';
import type { Log } from '../kernel/log.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { contentKeyContextOf } from './content-keys.ts';
import { MAIL_TOKEN_CONTEXT } from './mails/desk.ts';
import { secretContextOf } from './mfa/second-factor.ts';
import type { SecretBox } from './secret-box.ts';

/** Something in the database was sealed with a master key that is not configured: going on would fail one login after another. */
export class MasterKeyMissing extends Error {
  constructor(ids: readonly string[]) {
    const names = ids.map((id) => `"${id}"`).join(', ');
    super(
      `Secrets in the database are sealed with the master key ${names}, which is not configured. Put it back at the end of MASTER_KEYS (the key "local" is the file master.key in DATA_DIR).`,
    );
    this.name = 'MasterKeyMissing';
  }
}

interface SealedRow {
  readonly id: string;
  readonly sealed: string;
}

/** Where sealed secrets lie. Mails that went out or were given up are not read again. */
const PLACES = [
  {
    select: 'select id, mfa_sealed_secret as sealed from users where mfa_sealed_secret is not null for update',
    update: 'update users set mfa_sealed_secret = $2 where id = $1',
    contextOf: secretContextOf,
  },
  {
    select: `select id, data->>'sealed_token' as sealed from mails
              where sent_at is null and failed_at is null and data ? 'sealed_token' for update`,
    update: `update mails set data = jsonb_set(data, '{sealed_token}', to_jsonb($2::text)) where id = $1`,
    contextOf: () => MAIL_TOKEN_CONTEXT,
  },
  {
    select: 'select account_id as id, sealed_key as sealed from content_keys for update',
    update: 'update content_keys set sealed_key = $2 where account_id = $1',
    contextOf: contentKeyContextOf,
  },
] as const;

/**
 * Seals everything with the first master key, so that the others are needed no more. All of it in one transaction, before anything is
 * served; done again it changes nothing.
 * @throws MasterKeyMissing before anything is changed
 */
export async function resealSecrets({ pool, box, log }: { pool: Pool; box: SecretBox; log: Log }): Promise<void> {
  const { resealed, unreadable } = await inTransaction(pool, (client) => resealAll(client, box));
  const facts = { masterKey: box.currentId, resealed };
  // One that was tampered with must not keep everybody else out.
  if (unreadable.length > 0) log.error({ ...facts, unreadable }, 'some sealed secrets cannot be opened: keep the older master keys');
  else if (box.keyIds.length > 1) log.info(facts, 'every secret is sealed with the first master key: older ones may be removed');
}

async function resealAll(client: PoolClient, box: SecretBox) {
  const found: { row: SealedRow; place: (typeof PLACES)[number] }[] = [];
  for (const place of PLACES) {
    const { rows } = await client.query<SealedRow>(place.select);
    found.push(...rows.map((row) => ({ row, place })));
  }
  const missing = new Set(found.map(({ row }) => box.keyIdOf(row.sealed)).filter((id) => !box.keyIds.includes(id)));
  if (missing.size > 0) throw new MasterKeyMissing([...missing]);

  let resealed = 0;
  const unreadable: string[] = [];
  for (const { row, place } of found.filter((one) => box.keyIdOf(one.row.sealed) !== box.currentId)) {
    const context = place.contextOf(row);
    const plain = opened(box, row.sealed, context);
    if (plain === undefined) unreadable.push(row.id);
    else {
      await client.query(place.update, [row.id, box.seal(plain, context)]);
      resealed++;
    }
  }
  return { resealed, unreadable };
}

function opened(box: SecretBox, sealed: string, context: string): string | undefined {
  try {
    return box.open(sealed, context).plain;
  } catch {
    return undefined;
  }
}
