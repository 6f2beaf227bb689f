import Stripe from 'stripe';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { type PaymentEvent, PaymentFault, type PaymentProvider } from './port.ts';
import { createStripeCharges } from './stripe-charges.ts';
import { createStripeCheckouts } from './stripe-checkouts.ts';
import { eventOf, eventOfWebhook } from './stripe-events.ts';
import { faultOf, translating } from './stripe-faults.ts';
import { createStripeInvoices } from './stripe-invoices.ts';
import { createStripePrices } from './stripe-prices.ts';
import { createStripeRefunds } from './stripe-refunds.ts';
import { createStripeSubscriptions } from './stripe-subscriptions.ts';

export interface StripeOptions {
  /** `sk_live_…`, `sk_test_…`, or a restricted key (`rk_…`). */
  readonly secretKey: string;
  /** Of the webhook endpoint, `whsec_…`. */
  readonly webhookSecret: string;
  /** Default `https://api.stripe.com`. */
  readonly apiUrl?: string | undefined;
  /** Of one attempt. Default 20 seconds. */
  readonly timeoutMs?: number;
  /** Repeats after trouble on the way, each under the same idempotency key. Default 2. */
  readonly maxRetries?: number;
  readonly clock?: Clock;
}

const MOST_EVENTS = 10_000;

/** Payments by Stripe, through its official SDK. No request is made before the first method is called. */
export function createStripePayments(options: StripeOptions): PaymentProvider {
  const { apiUrl, clock = systemClock, maxRetries = 2, secretKey, timeoutMs = 20_000, webhookSecret } = options;
  const stripe = new Stripe(secretKey, {
    ...(apiUrl !== undefined && addressOf(apiUrl)),
    timeout: timeoutMs,
    maxNetworkRetries: maxRetries,
    telemetry: false,
    appInfo: { name: 'Tallygate' },
  });
  const prices = createStripePrices(stripe);

  const charges = createStripeCharges(stripe);
  const livemode = /^[rs]k_live_/.test(secretKey);
  return translating<PaymentProvider>({
    kind: 'stripe',
    livemode,
    provision: prices.provision,
    ...charges,
    ...createStripeCheckouts(stripe, prices),
    ...createStripeSubscriptions(stripe, prices),
    ...createStripeInvoices(stripe, charges.readPaymentMethod),
    ...createStripeRefunds(stripe),

    listEvents: (sinceMs) => eventsSince(stripe, sinceMs),

    verifyWebhook: (rawBody, signature) => eventOfWebhook({ rawBody, signature, secret: webhookSecret, nowMs: clock.now(), livemode }),

    // The SDK keeps idle connections only, which end by themselves.
    close: async () => {},
  });
}

/** Stripe lists the newest first, and what happens meanwhile is not missed: it is told by the next listing. */
async function* eventsSince(stripe: Stripe, sinceMs: number): AsyncGenerator<PaymentEvent> {
  const listing = stripe.events.list({ created: { gte: Math.floor(sinceMs / 1000) }, limit: 100 });
  const newestFirst = await listing.autoPagingToArray({ limit: MOST_EVENTS }).catch((thrown: unknown) => Promise.reject(faultOf(thrown)));
  for (const event of newestFirst.toReversed()) yield eventOf(event);
}

function addressOf(apiUrl: string): { host: string; port: number; protocol: 'http' | 'https' } {
  const { hostname, port, protocol } = new URL(apiUrl);
  if (protocol !== 'http:' && protocol !== 'https:') throw new PaymentFault('invalid', `${apiUrl} is no HTTP address`);
  return { host: hostname, port: Number(port || (protocol === 'http:' ? 80 : 443)), protocol: protocol === 'http:' ? 'http' : 'https' };
}
