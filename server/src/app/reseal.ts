import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { SEALED_SECOND_FACTORS } from '../access/identity/index.ts';
import { SEALED_CONTENT_KEYS } from '../inference/stored-content/index.ts';
import type { Log } from '../kernel/log.ts';
import type { SealedColumn, SecretBox } from '../kernel/secret-box.ts';
import { checkedRows } from '../kernel/statements.ts';
import { inTransaction } from '../kernel/transaction.ts';
import { SEALED_MAIL_TOKENS } from '../mail/index.ts';
import { SEALED_WEBHOOKS } from '../webhooks/index.ts';

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

const SealedRow = z.object({ id: z.string(), sealed: z.string() });
type SealedRow = z.infer<typeof SealedRow>;

/** Where sealed secrets lie. */
const COLUMNS: readonly SealedColumn[] = [SEALED_SECOND_FACTORS, SEALED_MAIL_TOKENS, SEALED_CONTENT_KEYS, SEALED_WEBHOOKS];

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
  const found: { row: SealedRow; column: SealedColumn }[] = [];
  for (const column of COLUMNS) {
    const rows = await checkedRows(client, SealedRow, column.select);
    found.push(...rows.map((row) => ({ row, column })));
  }
  const missing = new Set(found.map(({ row }) => box.keyIdOf(row.sealed)).filter((id) => !box.keyIds.includes(id)));
  if (missing.size > 0) throw new MasterKeyMissing([...missing]);

  let resealed = 0;
  const unreadable: string[] = [];
  for (const { row, column } of found.filter((one) => box.keyIdOf(one.row.sealed) !== box.currentId)) {
    const context = column.contextOf(row);
    const plain = opened(box, row.sealed, context);
    if (plain === undefined) unreadable.push(row.id);
    else {
      await client.query(column.update, [row.id, box.seal(plain, context)]);
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
