import Stripe from 'stripe';
import { nanoUsdToCents, type PaymentProvider } from './port.ts';
import { orMissing } from './stripe-faults.ts';
import { METADATA, StripeSession, sessionOf } from './stripe-objects.ts';
import type { StripePrices } from './stripe-prices.ts';

type CheckoutMethods = Pick<PaymentProvider, 'createCheckout' | 'readCheckout' | 'expireCheckout' | 'createPortalLink'>;
type CheckoutCommand = Parameters<PaymentProvider['createCheckout']>[0];

/** Pages to pay on. */
export const createStripeCheckouts = (stripe: Stripe, prices: StripePrices): CheckoutMethods => ({
  async createCheckout(command) {
    const { accountId, cancelUrl, customerId, expiresAtMs, idempotencyKey, reference, successUrl } = command;
    const metadata = { [METADATA.account]: accountId, [METADATA.reference]: reference };
    const order = await orderOf(command, prices, metadata);
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
});

/** What is bought: a plan by the month, or an amount. */
async function orderOf(
  command: CheckoutCommand,
  prices: StripePrices,
  metadata: Record<string, string>,
): Promise<Stripe.Checkout.SessionCreateParams> {
  if (command.mode === 'subscription')
    return {
      mode: 'subscription',
      line_items: [{ price: await prices.idOf(command.plan), quantity: 1 }],
      subscription_data: { metadata },
    };
  const { amount, description, saveCard } = command;
  return {
    mode: 'payment',
    line_items: [
      { price_data: { currency: 'usd', unit_amount: nanoUsdToCents(amount), product_data: { name: description } }, quantity: 1 },
    ],
    payment_intent_data: { metadata, description, ...(saveCard && { setup_future_usage: 'off_session' }) },
  };
}
