import type { Pool } from 'pg';
import { anyOf, type Queryable, rowsOf, run } from '../kernel/statements.ts';
import { tables } from './tables.ts';

/** In one transaction. */
const AT_ONCE = 5_000;

/** Deletes events from before a time, with what became of them. */
export async function forgetMessages(pool: Pool, before: Date, signal?: AbortSignal): Promise<void> {
  for (let found = AT_ONCE; found === AT_ONCE && !signal?.aborted; ) {
    const oldest = tables.selectFrom('webhook_messages').select('id').where('created_at', '<', before).orderBy('created_at').limit(AT_ONCE);
    const ids = (await rowsOf(pool, oldest)).map(({ id }) => id);
    found = await run(pool, tables.deleteFrom('webhook_messages').where('id', '=', anyOf(ids)));
  }
}

/** Webhooks of an account that closes, or that becomes another person's, with their deliveries; the events go with their time. */
export async function deleteAccountWebhooks(db: Queryable, { accountId }: { readonly accountId: string }): Promise<void> {
  await run(db, tables.deleteFrom('webhook_endpoints').where('account_id', '=', accountId));
}
