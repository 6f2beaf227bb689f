import type { Pool } from 'pg';
import { Problem } from '../../kernel/problem.ts';
import { type Author, asking, type Plans } from '../../money/plans/index.ts';
import { noSuchRegistration } from './edit-registration.ts';
import { type ListedRegistration, registrationById } from './registration-rows.ts';

interface RefundDeps {
  readonly pool: Pool;
  readonly plans: Pick<Plans, 'refunds' | 'records'>;
}

interface RefundOrder {
  readonly reason: string;
  readonly author: Author;
  /** The caller's `Idempotency-Key`. */
  readonly key: string | undefined;
}

/**
 * Returns what was paid for a place. What becomes of the registration follows from the payment, here as where the refund is made at the provider.
 * @throws Problem `not_found`, `conflict`, `payments_unavailable`
 */
export const createRefundRegistration =
  ({ pool, plans: { refunds, records } }: RefundDeps) =>
  async (registrationId: string, order: RefundOrder): Promise<ListedRegistration> => {
    const before = await registrationById(pool, registrationId);
    if (!before) throw noSuchRegistration();
    if (before.payment_status !== 'paid' || before.payment_id === null)
      throw new Problem('conflict', 'Nothing was paid for this registration, or it was refunded already: cancel it instead.');
    await asking(refunds.order({ ...order, payment: await records.payment(before.payment_id), amount: undefined }));
    const after = await registrationById(pool, registrationId);
    if (!after) throw noSuchRegistration();
    return after;
  };
