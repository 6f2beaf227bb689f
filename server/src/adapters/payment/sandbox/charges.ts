import { nanoUsdToCents, PaymentFault, type PaymentProvider } from '../port.ts';
import { METADATA, paymentOf, refundOf, StripePayment, StripeRefund } from '../stripe-objects.ts';
import { behaviourOf, type Payment, pay } from './billing.ts';
import type { DocumentOf } from './documents.ts';
import { newSandboxId } from './store.ts';
import type { Turns } from './turns.ts';

/** Payments without a page. */
export const chargeMethods = ({ look, command }: Turns): Pick<PaymentProvider, 'chargeOffSession' | 'readPayment' | 'findPayment'> => ({
  chargeOffSession: command('chargeOffSession', async (now, { accountId, amount, customerId, reference }) => {
    const customer = await now.books.find('customer', customerId);
    if (!customer) throw new PaymentFault('not_found', `There is no customer ${customerId}`);
    if (customer.card === null) {
      return { charged: false, decline: { reason: 'no_payment_method', message: 'No card is saved.', paymentId: undefined } };
    }
    const metadata = { [METADATA.account]: accountId, [METADATA.reference]: reference };
    const behaviour = await behaviourOf(now.books, customerId);
    const payment = readPayment(
      await pay(now, { customer: customerId, amount: nanoUsdToCents(amount), metadata, invoice: null, behaviour }),
    );
    return payment.decline ? { charged: false, decline: payment.decline } : { charged: true, payment };
  }),

  readPayment: (id) =>
    look(async ({ books }) => {
      const found = await books.find('payment', id);
      return found && readPayment(found);
    }),

  findPayment: ({ customerId, reference }) =>
    look(async ({ books }) => {
      const found = (await books.list('payment', customerId)).find(({ metadata }) => metadata[METADATA.reference] === reference);
      return found && readPayment(found);
    }),
});

export const refundMethods = ({ look, command }: Turns): Pick<PaymentProvider, 'findRefund' | 'refund'> => ({
  findRefund: (paymentId, reference) =>
    look(async ({ books }) => {
      const found = (await books.list('refund')).find(
        (refund) => refund.payment_intent === paymentId && refund.metadata[METADATA.reference] === reference,
      );
      return found && refundOf(StripeRefund.parse(found));
    }),

  refund: command('refund', async ({ books, now }, { amount, paymentId, reference }) => {
    const cents = amount === undefined ? undefined : nanoUsdToCents(amount);
    const payment = await books.find('payment', paymentId);
    if (!payment) throw new PaymentFault('not_found', `There is no payment ${paymentId}`);
    if (payment.status !== 'succeeded') return { refunded: false, reason: 'not_paid', message: 'This payment was never made.' };
    const left = payment.amount - payment.latest_charge.amount_refunded;
    if (left === 0 || (cents ?? left) > left)
      return { refunded: false, reason: 'exceeds_payment', message: `Only ${left} cents are left.` };
    const metadata = { [METADATA.reference]: reference };
    const refund: DocumentOf<'refund'> = {
      id: newSandboxId('re'),
      payment_intent: paymentId,
      amount: cents ?? left,
      status: 'succeeded',
      metadata,
      created: now,
    };
    payment.latest_charge.amount_refunded += refund.amount;
    await books.put('payment', payment);
    await books.put('refund', refund);
    await books.emit('refund.created', refund, now);
    return { refunded: true, refund: refundOf(StripeRefund.parse(refund)) };
  }),
});

const readPayment = (payment: Payment) => paymentOf(StripePayment.parse(payment), payment.invoice ?? undefined);
