import Stripe from 'stripe';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { nanoUsdToCents, type PaymentEvent, PaymentFault, type PaymentProvider } from './port.ts';
import { eventOf, eventOfWebhook } from './stripe-events.ts';
import { faultOf, orMissing, translating } from './stripe-faults.ts';
import { createStripeInvoices } from './stripe-invoices.ts';
import { declineOf, METADATA, paymentOf, refundOf, StripePayment, StripeRefund, StripeSession, sessionOf } from './stripe-objects.ts';
import { createStripePrices } from './stripe-prices.ts';
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

  const readPaymentMethod: PaymentProvider['readPaymentMethod'] = async (customerId) => {
    const customer = await stripe.customers.retrieve(customerId, { expand: ['invoice_settings.default_payment_method'] });
    if (customer.deleted) return undefined;
    const preferred = customer.invoice_settings.default_payment_method;
    const method =
      typeof preferred === 'object' && preferred !== null
        ? preferred
        : (await stripe.paymentMethods.list({ customer: customerId, limit: 1 })).data[0];
    return method && { id: method.id, brand: method.card?.brand ?? method.type, last4: method.card?.last4 };
  };

  const readPayment: PaymentProvider['readPayment'] = async (paymentId) => {
    const intent = await orMissing(stripe.paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] }));
    if (!intent) return undefined;
    const paid = await stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: paymentId }, limit: 1 });
    const invoice = paid.data[0]?.invoice;
    return paymentOf(StripePayment.parse(intent), typeof invoice === 'object' ? invoice.id : invoice);
  };

  return translating<PaymentProvider>({
    kind: 'stripe',
    livemode: /^[rs]k_live_/.test(secretKey),
    provision: prices.provision,
    ...createStripeSubscriptions(stripe, prices),
    ...createStripeInvoices(stripe, readPaymentMethod),
    readPaymentMethod,
    readPayment,

    async ensureCustomer({ accountId, customerId, email, idempotencyKey }) {
      // Stripe's index is behind by up to a minute; within a day the idempotency key stands in for it.
      const known =
        customerId ?? (await stripe.customers.search({ query: `metadata["${METADATA.account}"]:"${accountId}"`, limit: 1 })).data[0]?.id;
      const id = known ?? (await stripe.customers.create({ metadata: { [METADATA.account]: accountId } }, { idempotencyKey })).id;
      await stripe.customers.update(id, { email });
      return id;
    },

    async createCheckout(command) {
      const { accountId, cancelUrl, customerId, expiresAtMs, idempotencyKey, reference, successUrl } = command;
      const metadata = { [METADATA.account]: accountId, [METADATA.reference]: reference };
      const order: Stripe.Checkout.SessionCreateParams =
        command.mode === 'subscription'
          ? {
              mode: 'subscription',
              line_items: [{ price: await prices.idOf(command.plan), quantity: 1 }],
              subscription_data: { metadata },
            }
          : {
              mode: 'payment',
              line_items: [
                {
                  price_data: { currency: 'usd', unit_amount: nanoUsdToCents(command.amount), product_data: { name: command.description } },
                  quantity: 1,
                },
              ],
              payment_intent_data: {
                metadata,
                description: command.description,
                ...(command.saveCard && { setup_future_usage: 'off_session' }),
              },
            };
      const session = await stripe.checkout.sessions.create(
        {
          ...order,
          customer: customerId,
          client_reference_id: accountId,
          metadata,
          success_url: successUrl,
          cancel_url: cancelUrl,
          ...(expiresAtMs !== undefined && { expires_at: Math.floor(expiresAtMs / 1000) }),
        },
        { idempotencyKey },
      );
      return sessionOf(StripeSession.parse(session));
    },

    async readCheckout(id) {
      const session = await orMissing(stripe.checkout.sessions.retrieve(id));
      return session && sessionOf(StripeSession.parse(session));
    },

    async expireCheckout(id) {
      const session = await orMissing(stripe.checkout.sessions.retrieve(id));
      if (session?.status !== 'open') return session && sessionOf(StripeSession.parse(session));
      // Paid between the two requests: then that is what it is.
      const expired = await stripe.checkout.sessions.expire(id).catch((thrown: unknown) => {
        if (thrown instanceof Stripe.errors.StripeInvalidRequestError) return stripe.checkout.sessions.retrieve(id);
        throw thrown;
      });
      return sessionOf(StripeSession.parse(expired));
    },

    async createPortalLink({ customerId, returnUrl }) {
      return (await stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl })).url;
    },

    async chargeOffSession({ accountId, amount, customerId, description, idempotencyKey, reference }) {
      const method = await readPaymentMethod(customerId);
      if (!method) return { charged: false, decline: { reason: 'no_payment_method', message: 'No card is saved.', paymentId: undefined } };
      try {
        const intent = await stripe.paymentIntents.create(
          {
            amount: nanoUsdToCents(amount),
            currency: 'usd',
            customer: customerId,
            payment_method: method.id,
            off_session: true,
            confirm: true,
            description,
            metadata: { [METADATA.account]: accountId, [METADATA.reference]: reference },
          },
          { idempotencyKey },
        );
        const payment = paymentOf(StripePayment.parse(intent));
        return { charged: payment.status === 'succeeded' ? true : 'pending', payment };
      } catch (thrown) {
        if (!(thrown instanceof Stripe.errors.StripeCardError)) throw thrown;
        return { charged: false, decline: declineOf(thrown, thrown.payment_intent?.id) };
      }
    },

    async findPayment({ customerId, reference, sinceMs }) {
      const created = { gte: Math.floor(sinceMs / 1000) };
      for await (const { id, metadata } of stripe.paymentIntents.list({ customer: customerId, created, limit: 100 }))
        if (metadata[METADATA.reference] === reference) return readPayment(id);
      return undefined;
    },

    async findRefund(paymentId, reference) {
      for await (const refund of stripe.refunds.list({ payment_intent: paymentId, limit: 100 }))
        if (refund.metadata?.[METADATA.reference] === reference) return refundOf(StripeRefund.parse(refund));
      return undefined;
    },

    async refund({ amount, idempotencyKey, paymentId, reference }) {
      try {
        const refund = await stripe.refunds.create(
          {
            payment_intent: paymentId,
            metadata: { [METADATA.reference]: reference },
            ...(amount !== undefined && { amount: nanoUsdToCents(amount) }),
          },
          { idempotencyKey },
        );
        return { refunded: true, refund: refundOf(StripeRefund.parse(refund)) };
      } catch (thrown) {
        if (!(thrown instanceof Stripe.errors.StripeInvalidRequestError) || thrown.code === 'resource_missing') throw thrown;
        // Stripe gives no code to some of these, so the payment is looked at.
        const intent = StripePayment.parse(await stripe.paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] }));
        const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : undefined;
        const { message } = thrown;
        if (intent.status !== 'succeeded' || !charge) return { refunded: false, reason: 'not_paid', message };
        if (charge.disputed) return { refunded: false, reason: 'disputed', message };
        const left = intent.amount - charge.amount_refunded;
        if (left > 0 && (amount === undefined || nanoUsdToCents(amount) <= left)) throw thrown;
        return { refunded: false, reason: 'exceeds_payment', message };
      }
    },

    listEvents: (sinceMs) => eventsSince(stripe, sinceMs),

    verifyWebhook: (rawBody, signature) => eventOfWebhook({ rawBody, signature, secret: webhookSecret, nowMs: clock.now() }),

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
