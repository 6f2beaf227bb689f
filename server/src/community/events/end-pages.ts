import type { Pool } from 'pg';
import { PaymentFault, type PaymentProvider } from '../../adapters/payment/port.ts';
import { expirePage } from '../../money/plans/index.ts';

interface EndPagesDeps {
  readonly pool: Pool;
  readonly provider: Pick<PaymentProvider, 'expireCheckout'>;
}

interface OpenPage {
  readonly checkout_id: string;
  readonly session_id: string;
}

const AT_ONCE = 500;

/**
 * Ends the hosted pages of places that nobody holds any more: canceled, given for free, or at an event that is not public. Called by whatever
 * takes such a place, after its transaction, and by a job, for where the provider could not be asked. What was paid nevertheless goes back
 * (`followPayments`).
 * @param eventId of one event; left out: of all
 */
export async function endPages({ pool, provider }: EndPagesDeps, eventId?: string, signal?: AbortSignal): Promise<void> {
  const { rows } = await pool.query<OpenPage>(
    `select c.checkout_id, c.session_id from event_registrations r join checkouts c using (checkout_id) join site_events e using (event_id)
      where c.status = 'open' and c.session_id is not null and (r.status <> 'awaiting_payment' or e.status <> 'published')
        and ($1::uuid is null or r.event_id = $1) limit $2`,
    [eventId ?? null, AT_ONCE],
  );
  for (const { checkout_id, session_id } of rows) {
    if (signal?.aborted) return;
    try {
      const session = await provider.expireCheckout(session_id);
      // One that was paid is told of by its own event.
      if (session?.status === 'complete') continue;
    } catch (failure) {
      if (failure instanceof PaymentFault) return;
      throw failure;
    }
    await expirePage(pool, checkout_id);
  }
}
