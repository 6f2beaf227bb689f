import type { Pool } from 'pg';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { PaymentFault, type PaymentProvider } from '../../adapters/payment/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { createAccountLock } from './account-lock.ts';
import { createAutoTopup } from './auto-topup.ts';
import { createBillingOfUsage } from './billing-of-usage.ts';
import { createCheckouts } from './checkouts.ts';
import { createDedicatedCapacity } from './dedicated-capacity.ts';
import { createDowngrades } from './downgrades.ts';
import { createGifts } from './gifts.ts';
import { createGivenPlans } from './given-plans.ts';
import { createPaymentEvents } from './payment-events.ts';
import { createPaymentRefunds } from './payment-refunds.ts';
import { realPurchases } from './real-money.ts';
import { reconcilePayments } from './reconcile-payments.ts';
import { createPaymentRecords } from './records.ts';
import { createSpendAlerts } from './spend-alerts.ts';
import type { PlanTermsDeps } from './subscription-row.ts';
import type { OnPurchase } from './sync-payment.ts';
import { createUpgradePreviews } from './upgrade-previews.ts';
import { createUsageInvoices } from './usage-invoices.ts';

export interface AccountPlansDeps extends PlanTermsDeps {
  readonly pool: Pool;
  /** False: of the payment sandbox. */
  readonly livemode: boolean;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
  /** Seals invoices for the log of receipts. */
  readonly sealKey: Buffer;
}

/** What plans do without a payment provider. */
export function createAccountPlans(deps: AccountPlansDeps) {
  const { pool, livemode } = deps;
  const exclusively = createAccountLock(pool, livemode);
  const own = { ...deps, exclusively };
  return {
    ...own,
    given: createGivenPlans(own),
    capacity: createDedicatedCapacity(own),
    usageInvoices: createUsageInvoices(own),
    gifts: createGifts(own),
    alerts: createSpendAlerts(own),
    records: createPaymentRecords(pool),
  };
}

export type AccountPlans = ReturnType<typeof createAccountPlans>;

export interface PaymentsDeps {
  readonly provider: PaymentProvider;
  readonly log: Log;
  readonly publicUrl: () => string;
  /** Told of payments for what other slices sell. */
  readonly onPurchase?: OnPurchase;
  /** Whether payments buy what other slices sell: money, or the sandbox on a gateway on which nothing is real. */
  readonly canBuyReal: boolean;
}

/** Everything that plans and money do, over one payment provider. */
export function createPlans(plans: AccountPlans, { provider, log, publicUrl, onPurchase, canBuyReal }: PaymentsDeps) {
  const deps = { ...plans, provider, log, publicUrl, canBuyReal, onPurchase: realPurchases(canBuyReal, onPurchase) };
  const { book } = plans;
  const previews = createUpgradePreviews(deps);
  const events = createPaymentEvents(deps);
  return {
    ...plans,
    provider,
    events,
    previews,
    refunds: createPaymentRefunds(deps),
    checkouts: createCheckouts({ ...deps, previews }),
    downgrades: createDowngrades(deps),
    billing: createBillingOfUsage(deps),
    autoTopup: createAutoTopup(deps),
    reconcile: () => reconcilePayments({ ...deps, events }),
    /** Makes products and prices at the provider; before any checkout. */
    provision: () =>
      provider.provision(
        book.offered
          .filter(({ id }) => book.isForSale(id))
          .map(({ id, version, name, monthlyPrice }) => ({ planId: id, version, name, monthlyPrice })),
      ),
  };
}

export type Plans = ReturnType<typeof createPlans>;

/** @throws Problem `payments_unavailable` where the provider could not be asked, or refused */
export async function asking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (failure) {
    if (!(failure instanceof PaymentFault)) throw failure;
    throw new Problem('payments_unavailable', 'The payment provider could not be asked: repeat the request later.', {
      because: `${failure.kind}: ${failure.message}`,
      cause: failure,
      ...(failure.kind === 'unavailable' && { retryAfterSeconds: 5 }),
    });
  }
}
