import type { Pool } from 'pg';

/** Says of a checkout that its page was ended at the provider. One that was paid meanwhile stays as it is. */
export async function expirePage(pool: Pick<Pool, 'query'>, checkoutId: string): Promise<void> {
  await pool.query("update checkouts set status = 'expired', url = null where checkout_id = $1 and status = 'open'", [checkoutId]);
}
