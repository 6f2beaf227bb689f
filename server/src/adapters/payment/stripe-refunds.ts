import Stripe from 'stripe';
import type { NanoUsd } from '../../kernel/money.ts';
import { nanoUsdToCents, type PaymentProvider } from './port.ts';
import { METADATA, refundOf, StripePayment, StripeRefund } from './stripe-objects.ts';

type RefundMethods = Pick<PaymentProvider, 'findRefund' | 'refund'>;

export const createStripeRefunds = (stripe: Stripe): RefundMethods => ({
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
      return refusalOf(stripe, { paymentId, amount, thrown });
    }
  },
});

interface Refused {
  readonly paymentId: string;
  readonly amount: NanoUsd | undefined;
  readonly thrown: Stripe.errors.StripeInvalidRequestError;
}

/** Stripe gives no code to some refusals, so the payment is looked at. */
async function refusalOf(stripe: Stripe, { paymentId, amount, thrown }: Refused): ReturnType<PaymentProvider['refund']> {
  const intent = StripePayment.parse(await stripe.paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] }));
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : undefined;
  const { message } = thrown;
  if (intent.status !== 'succeeded' || !charge) return { refunded: false, reason: 'not_paid', message };
  if (charge.disputed) return { refunded: false, reason: 'disputed', message };
  const left = intent.amount - charge.amount_refunded;
  if (left > 0 && (amount === undefined || nanoUsdToCents(amount) <= left)) throw thrown;
  return { refunded: false, reason: 'exceeds_payment', message };
}
