import { hash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Unit } from './account-lock.ts';
import { beginCommand, commandOfRequest } from './payment-commands.ts';
import type { Author } from './tell.ts';

/** What is kept of a refund while it is not known how it ended. */
export interface RefundDetails {
  readonly provider_id: string;
  /** All that is left, when null. */
  readonly amount_usd: string | null;
  readonly reason: string;
  readonly author: Author;
}

interface Return {
  readonly accountId: string;
  readonly paymentId: string;
  readonly providerId: string;
  readonly reason: string;
}

/**
 * Orders that a whole payment goes back, in the transaction that books it: once for a payment, however often it is looked at. A job carries
 * it out (`createPaymentRefunds`), since nobody waits for it.
 */
export async function orderReturn(unit: Unit, { accountId, paymentId, providerId, reason }: Return, clock: Clock): Promise<void> {
  const requestHash = hash('sha256', JSON.stringify(['return', paymentId]), 'buffer');
  if (await commandOfRequest(unit, requestHash)) return;
  const { rowCount } = await unit.query("select from payment_commands where kind = 'refund' and subject = $1 and state = 'begun'", [
    paymentId,
  ]);
  // Somebody is returning it by hand; what that leaves is looked at with the event that tells of it.
  if (rowCount !== 0) return;
  const author: Author = { actor: { kind: 'system', id: null } };
  const details: RefundDetails = { provider_id: providerId, amount_usd: null, reason, author };
  await beginCommand(unit, { kind: 'refund', accountId, subject: paymentId, details, requestHash }, clock);
}
