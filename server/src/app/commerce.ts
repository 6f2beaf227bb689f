import { createEvents, followPayments } from '../community/events/index.ts';
import { createAccountPlans, createPlans, planOfSeller } from '../money/plans/index.ts';
import type { Core } from './core.ts';
import { openPayments } from './payments.ts';
import { isSelling, isTryOut, openTestBilling } from './plans.ts';

export type Commerce = Awaited<ReturnType<typeof openCommerce>>;

/** What is paid for: plans, and places at events. */
export async function openCommerce({ foundation, billing, planBook, accounts, publicUrl }: Core) {
  const { config, pool, clock, log, closing } = foundation;
  const { lanes, write, sealKey } = billing;
  const { book, planOfAccount } = planBook;
  const payments = await openPayments(config.stripe, { pool, clock, log, publicUrl });
  closing.add('payments', () => payments.provider.close());
  const live = createAccountPlans({ pool, livemode: true, lanes, clock, write, book, planOfAccount, sealKey });
  // What the sandbox takes pays for nothing live: no lane hears of it.
  const paying = payments.provider.livemode
    ? live
    : createAccountPlans({
        ...{ pool: openTestBilling(foundation, closing), livemode: false, clock, book, planOfAccount: planOfSeller(book), sealKey },
        ...{ lanes: { refreshCredit: async () => {} }, write: async () => {} },
      });
  const forPlans = { provider: payments.provider, log, publicUrl, onPurchase: followPayments({ clock }) };
  const plans = createPlans(paying, { ...forPlans, canBuyReal: isSelling(config) || isTryOut(config) });
  const events = createEvents({ pool: plans.pool, clock, identity: accounts.identity, plans });
  return { payments, live, plans, events };
}
