import type { CheckoutSession, Dispute, Payment, PaymentInvoice, Refund, Subscription } from './payment-objects.ts';

interface EventEnvelope {
  /** `evt_…`: one occurrence, however often it is told. */
  readonly id: string;
  /** The provider's own name of it, `invoice.paid`. */
  readonly type: string;
  /** When it happened, to the second: two events of one second have no order. */
  readonly createdAtMs: number;
  readonly livemode: boolean;
}

/** What a webhook tells. The objects are as they were at that moment: to act on the present, read them again. */
export type PaymentEvent = EventEnvelope &
  (
    | { readonly kind: 'checkout_completed' | 'checkout_expired' | 'checkout_payment_failed'; readonly session: CheckoutSession }
    /** Made, changed, renewed or ended: all of it is in the status. */
    | { readonly kind: 'subscription_changed'; readonly subscription: Subscription }
    /** What is scheduled for a subscription was made, changed, dropped or has happened. */
    | { readonly kind: 'schedule_changed'; readonly subscriptionId: string | undefined; readonly customerId: string }
    | { readonly kind: 'invoice_changed' | 'invoice_paid' | 'invoice_payment_failed'; readonly invoice: PaymentInvoice }
    | { readonly kind: 'payment_succeeded' | 'payment_failed'; readonly payment: Payment }
    | { readonly kind: 'refund_changed'; readonly refund: Refund }
    | { readonly kind: 'dispute_changed'; readonly dispute: Dispute }
    /** Nothing that the gateway acts on. */
    | { readonly kind: 'other' }
  );
