import type { Pool } from 'pg';
import { PaymentFault, type PaymentProvider } from '../../adapters/payment/port.ts';
import { ifGiven, rowsOf } from '../../kernel/statements.ts';
import { expirePage } from '../../money/plans/index.ts';
import { tables } from './tables.ts';

interface EndPagesDeps {
  readonly pool: Pool;
  readonly provider: Pick<PaymentProvider, 'expireCheckout'>;
}

const AT_ONCE = 500;

/**
 * Ends the hosted pages of places that are no longer held: canceled, given for free, or at an event that is not public. Called by each use case
 * that takes such a place, after its transaction, and by a job if the provider was not reachable. A late payment is refunded
 * (`followPayments`).
 * @param eventId of one event; left out: of all
 */
export async function endPages({ pool, provider }: EndPagesDeps, eventId?: string, signal?: AbortSignal): Promise<void> {
  const rows = await rowsOf(
    pool,
    tables
      .selectFrom('event_registrations as r')
      .innerJoin('checkouts as c', 'c.checkout_id', 'r.checkout_id')
      .innerJoin('site_events as e', 'e.event_id', 'r.event_id')
      .select((eb) => ['c.checkout_id', eb.ref('c.session_id').$notNull().as('session_id')] as const)
      .where('c.status', '=', 'open')
      .where('c.session_id', 'is not', null)
      .where((eb) => eb.or([eb('r.status', '<>', 'awaiting_payment'), eb('e.status', '<>', 'published')]))
      .where((eb) => ifGiven(eventId, (id) => eb('r.event_id', '=', id)))
      .limit(AT_ONCE),
  );
  for (const { checkout_id, session_id } of rows) {
    if (signal?.aborted) return;
    try {
      const session = await provider.expireCheckout(session_id);
      // A paid one gets its own webhook event.
      if (session?.status === 'complete') continue;
    } catch (failure) {
      if (failure instanceof PaymentFault) return;
      throw failure;
    }
    await expirePage(pool, checkout_id);
  }
}
