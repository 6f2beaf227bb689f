import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { lockRegistration } from './edit-registration.ts';
import { queueEventMail } from './mail.ts';
import { withPlace } from './registration.ts';
import { setRegistration } from './registration-rows.ts';
import { tables } from './tables.ts';

/**
 * Makes places due again that sandbox money paid for while the gateway was a sandbox as a whole. Called at a start with an AI provider or a
 * payment provider: from then on that money buys nothing real. What is over stays as it is.
 */
export async function owedAgain({ pool, clock }: { readonly pool: Pool; readonly clock: Clock }): Promise<void> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('event_registrations as r')
      .innerJoin('site_events as e', 'e.event_id', 'r.event_id')
      .select('r.registration_id')
      .where('r.status', '=', 'confirmed')
      .where('r.payment_status', '=', 'paid')
      .where('e.status', '<>', 'archived')
      .where('e.ends_at', '>', new Date(clock.now()))
      .where(sql<boolean>`exists (select from test_billing.payments p where p.payment_id = r.payment_id)`),
  );
  for (const { registration_id } of rows)
    await inTransaction(pool, async (db) => {
      const nowMs = clock.now();
      const { event, before } = await lockRegistration(db, registration_id);
      // Another gateway that starts was first.
      if (before.status !== 'confirmed' || before.payment_status !== 'paid') return;
      const owed = { ...withPlace({ price_nano: before.price_nano, payment_status: 'due' }, nowMs), confirmed_at: null };
      await setRegistration(db, registration_id, owed, new Date(nowMs));
      await queueEventMail(db, event, { ...before, ...owed });
    });
}
