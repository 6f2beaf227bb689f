import { Problem } from '../../kernel/problem.ts';
import type { OnPurchase } from './sync-payment.ts';

/**
 * What other slices sell, a place at an event for one, has no test mode: money of the sandbox buys it only on a gateway on which nothing is real.
 * Plans, balances and invoices need no such rule: those of the sandbox are in tables of their own.
 * @throws Problem `conflict`
 */
export function requireReal(canBuy: boolean): void {
  if (!canBuy)
    throw new Problem(
      'conflict',
      'This gateway has no payment provider: nothing can be paid here, and its operator gives what has a price.',
    );
}

/** Returns money that buys nothing real: it was paid on a page from the time before the gateway had an AI provider. */
export const realPurchases = (canBuy: boolean, onPurchase: OnPurchase | undefined): OnPurchase | undefined =>
  canBuy
    ? onPurchase
    : async (unit, purchase) =>
        purchase.isReceived ? 'Paid in the sandbox of payments, which buys nothing real.' : onPurchase?.(unit, purchase);
