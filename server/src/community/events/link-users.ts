import { type SqlBool, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { tables } from './tables.ts';

interface LinkUsersDeps {
  readonly pool: Pool;
  readonly claimable: Identity['claimable'];
}

const AT_ONCE = 100;
const UNLINKED = 'user_id is null and erased_at is null and not awaits_proof(email, created_at)';

/** SQL: whether a registration waits for {@link linkUsers}. */
export const UNLINKED_USERS_DUE = `exists (select from event_registrations where ${UNLINKED})`;

/**
 * Links every registration to the user of its address; an address without a user gets an account to claim. If an account has the address
 * but never confirmed it, the registration waits for the confirmation. Idempotent, also when run concurrently.
 */
export async function linkUsers({ pool, claimable }: LinkUsersDeps, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const rows = await rowsOf(
      pool,
      tables
        .selectFrom('event_registrations')
        .select(['registration_id', 'email', 'name'])
        .where(sql<SqlBool>`${sql.raw(UNLINKED)}`)
        .orderBy('created_at')
        .limit(AT_ONCE),
    );
    for (const { registration_id, email, name } of rows) {
      if (signal?.aborted) return;
      const user = await claimable.findOrMake({ email, name });
      if (!user) continue;
      await pool.query('update event_registrations set user_id = $2 where registration_id = $1 and erased_at is null', [
        registration_id,
        user.id,
      ]);
    }
    if (rows.length < AT_ONCE) return;
  }
}
