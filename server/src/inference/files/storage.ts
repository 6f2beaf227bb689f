import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

/**
 * Takes room for bytes that the transaction makes the account's own.
 * @throws Problem `storage_limit_reached`
 */
export async function takeRoom(client: Queryable, accountId: string, bytes: number, limitBytes: number): Promise<void> {
  // Adding and judging are one statement, so that any number of uploads at once stay below the limit together.
  const { rowCount } = await client.query(
    `insert into file_storage as held (account_id, bytes) select $1, $2::bigint where $2::bigint <= $3::bigint
     on conflict (account_id) do update set bytes = held.bytes + excluded.bytes where held.bytes + excluded.bytes <= $3::bigint`,
    [accountId, bytes, limitBytes],
  );
  if (rowCount === 0) throw full(limitBytes);
}

/** Gives room back, in the transaction that gives up the bytes. */
export async function giveRoom(client: Queryable, accountId: string, bytes: number): Promise<void> {
  if (bytes > 0) await client.query('update file_storage set bytes = bytes - $2::bigint where account_id = $1', [accountId, bytes]);
}

/**
 * Refuses early what would be refused in the end, before any of it is sent. It holds nothing.
 * @throws Problem `storage_limit_reached`
 */
export async function requireRoom(pool: Queryable, accountId: string, bytes: number, limitBytes: number): Promise<void> {
  const held = await firstOf(pool, tables.selectFrom('file_storage').select('bytes').where('account_id', '=', accountId));
  if (Number(held?.bytes ?? 0n) + bytes > limitBytes) throw full(limitBytes);
}

const full = (limitBytes: number): Problem =>
  new Problem('storage_limit_reached', `The account’s files may take ${limitBytes} bytes together: delete some, or cancel uploads.`);
