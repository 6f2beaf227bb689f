import Stripe from 'stripe';
import { nanoUsdToCents, type PaymentProvider } from './port.ts';
import { orMissing } from './stripe-faults.ts';
import { declineOf, METADATA, paymentOf, StripePayment } from './stripe-objects.ts';

type ChargeMethods = Pick<PaymentProvider, 'ensureCustomer' | 'readPaymentMethod' | 'readPayment' | 'chargeOffSession' | 'findPayment'>;

/** Customers, their cards, and payments without a page. */
export function createStripeCharges(stripe: Stripe): ChargeMethods {
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

  return {
    readPaymentMethod,
    readPayment,
    ensureCustomer: (command) => ensureCustomer(stripe, command),

    async chargeOffSession(command) {
      const method = await readPaymentMethod(command.customerId);
      if (!method) return { charged: false, decline: { reason: 'no_payment_method', message: 'No card is saved.', paymentId: undefined } };
      return charge(stripe, command, method.id);
    },

    async findPayment({ customerId, reference, sinceMs }) {
      const created = { gte: Math.floor(sinceMs / 1000) };
      for await (const { id, metadata } of stripe.paymentIntents.list({ customer: customerId, created, limit: 100 }))
        if (metadata[METADATA.reference] === reference) return readPayment(id);
      return undefined;
    },
  };
}

async function ensureCustomer(
  stripe: Stripe,
  { accountId, customerId, email, idempotencyKey }: Parameters<PaymentProvider['ensureCustomer']>[0],
): Promise<string> {
  // Stripe's index is behind by up to a minute; within a day the idempotency key stands in for it.
  const known =
    customerId ?? (await stripe.customers.search({ query: `metadata["${METADATA.account}"]:"${accountId}"`, limit: 1 })).data[0]?.id;
  const id = known ?? (await stripe.customers.create({ metadata: { [METADATA.account]: accountId } }, { idempotencyKey })).id;
  await stripe.customers.update(id, { email });
  return id;
}

async function charge(
  stripe: Stripe,
  { accountId, amount, customerId, description, idempotencyKey, reference }: Parameters<PaymentProvider['chargeOffSession']>[0],
  paymentMethod: string,
): ReturnType<PaymentProvider['chargeOffSession']> {
  try {
    const intent = await stripe.paymentIntents.create(
      {
        amount: nanoUsdToCents(amount),
        currency: 'usd',
        customer: customerId,
        payment_method: paymentMethod,
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
}
