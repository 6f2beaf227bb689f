import type Stripe from 'stripe';

/** Stripe's object as it is stored: what may be expanded is an id. */
type Stored<T, Ids extends keyof T> = Omit<T, Ids> & { [K in Ids]: null extends T[K] ? string | null : string };

export type FakeCustomer = Omit<Stripe.Customer, 'invoice_settings'> & {
  invoice_settings: Stored<Stripe.Customer.InvoiceSettings, 'default_payment_method'>;
};
export type FakePaymentMethod = Stored<Stripe.PaymentMethod, 'customer'>;
export type FakeProduct = Stripe.Product;
export type FakePrice = Stored<Stripe.Price, 'product'>;
export type FakeSession = Stored<Stripe.Checkout.Session, 'customer' | 'subscription' | 'payment_intent' | 'invoice'>;
export type FakePaymentIntent = Stored<Stripe.PaymentIntent, 'customer' | 'latest_charge' | 'payment_method'>;
export type FakeCharge = Stored<Stripe.Charge, 'customer' | 'payment_intent'>;
export type FakeRefund = Stored<Stripe.Refund, 'charge' | 'payment_intent'>;
export type FakeDispute = Stored<Stripe.Dispute, 'charge' | 'payment_intent'>;
export type FakeSubscriptionItem = Omit<Stripe.SubscriptionItem, 'price'> & { price: FakePrice };
export type FakeSubscription = Omit<
  Stored<Stripe.Subscription, 'customer' | 'latest_invoice' | 'schedule' | 'default_payment_method'>,
  'items'
> & { items: FakeList<FakeSubscriptionItem> };
export type FakePhase = Stripe.SubscriptionSchedule.Phase;
export type FakeSchedule = Stored<Stripe.SubscriptionSchedule, 'customer' | 'subscription'>;
export type FakeInvoiceItem = Stored<Stripe.InvoiceItem, 'customer' | 'invoice'>;
export type FakeInvoice = Omit<Stored<Stripe.Invoice, 'default_payment_method'>, 'lines' | 'customer'> & {
  customer: string;
  lines: FakeList<FakeLine>;
};
export type FakeLine = Stored<Stripe.InvoiceLineItem, 'subscription'>;
export type FakeInvoicePayment = Stored<Stripe.InvoicePayment, 'invoice'>;
export type FakePortalSession = Stripe.BillingPortal.Session;
export type FakeWebhookEndpoint = Stripe.WebhookEndpoint;

/** What is there once as a list inside of another object. */
export interface FakeList<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
  url: string;
}

/** An event whose object is any of those above, as it was. */
export interface FakeEvent extends Omit<Stripe.EventBase, 'data' | 'type'> {
  type: string;
  data: { object: unknown; previous_attributes?: Record<string, unknown> };
}

export const listOf = <T>(url: string, data: T[]): FakeList<T> => ({ object: 'list', data, has_more: false, url });
