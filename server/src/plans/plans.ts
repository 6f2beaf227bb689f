import type { Pool } from 'pg';
import type { LaneStore } from '../adapters/lanes/port.ts';
import { PaymentFault, type PaymentProvider } from '../adapters/payment/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { Problem } from '../kernel/problem.ts';
import { createAccountLock } from './account-lock.ts';
import { createAutoTopup } from './auto-topup.ts';
import { createBillingOfUsage } from './billing-of-usage.ts';
import { createCheckouts } from './checkouts.ts';
import { createDowngrades } from './downgrades.ts';
import { createGifts } from './gifts.ts';
import { createPaymentEvents } from './payment-events.ts';
import { createPaymentRefunds } from './payment-refunds.ts';
import { reconcilePayments } from './reconcile-payments.ts';
import { createPaymentRecords } from './records.ts';
import { createSpendAlerts } from './spend-alerts.ts';
import type { OnPurchase } from './sync-payment.ts';
import { SOLD_PLANS } from './tiers.ts';
import { createUpgradePreviews } from './upgrade-previews.ts';
import { createUsageInvoices } from './usage-invoices.ts';

export interface PlansDeps {
  readonly pool: Pool;
  readonly provider: PaymentProvider;
  readonly lanes: Pick<LaneStore, 'refreshCredit'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Writes what is settled and not yet in the ledger. */
  readonly write: () => Promise<void>;
  readonly publicUrl: () => string;
  /** Told of payments for what other slices sell. */
  readonly onPurchase?: OnPurchase;
}

/** Everything that plans and money do, over one payment provider. */
export function createPlans({ pool, provider, lanes, clock, log, write, publicUrl, onPurchase }: PlansDeps) {
  const exclusively = createAccountLock(pool);
  const previews = createUpgradePreviews({ pool, provider, clock });
  const events = createPaymentEvents({ pool, exclusively, provider, lanes, clock, log, onPurchase });
  return {
    pool,
    provider,
    clock,
    exclusively,
    lanes,
    events,
    previews,
    refunds: createPaymentRefunds({ pool, exclusively, provider, lanes, clock, log, onPurchase }),
    checkouts: createCheckouts({ pool, exclusively, provider, previews, clock, publicUrl }),
    downgrades: createDowngrades({ pool, exclusively, provider, clock, log }),
    usageInvoices: createUsageInvoices({ pool, exclusively, clock, write }),
    billing: createBillingOfUsage({ pool, exclusively, provider, clock, log }),
    autoTopup: createAutoTopup({ pool, exclusively, provider, lanes, clock, log }),
    gifts: createGifts({ pool, exclusively, lanes, clock }),
    alerts: createSpendAlerts({ pool, exclusively, clock }),
    records: createPaymentRecords(pool),
    reconcile: () => reconcilePayments({ pool, provider, events, clock }),
    /** Makes products and prices at the provider; before any checkout. */
    provision: () =>
      provider.provision(
        SOLD_PLANS.filter(({ monthlyPrice }) => monthlyPrice > 0n).map(({ id, version, name, monthlyPrice }) => ({
          planId: id,
          version,
          name,
          monthlyPrice,
        })),
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
