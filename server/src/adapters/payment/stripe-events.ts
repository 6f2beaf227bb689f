import Stripe from 'stripe';
import { z } from 'zod';
import { type PaymentEvent, type WebhookFault, WebhookRefused } from './port.ts';
import {
  disputeOf,
  invoiceOf,
  paymentOf,
  refundOf,
  StripeDispute,
  StripeInvoice,
  StripePayment,
  StripeRefund,
  StripeSchedule,
  StripeSession,
  StripeSubscription,
  sessionOf,
  subscriptionOf,
} from './stripe-objects.ts';

/** Stripe's own are shorter, and of letters, digits, underscores and dots. */
const Name = z.string().regex(/^[\x21-\x7e]{1,255}$/);

const Envelope = z.object({
  id: Name,
  type: Name,
  created: z.number(),
  livemode: z.boolean(),
  data: z.object({ object: z.unknown() }),
});

type Told = PaymentEvent extends infer E ? (E extends PaymentEvent ? Omit<E, 'id' | 'type' | 'createdAtMs' | 'livemode'> : never) : never;
type Reader = (object: unknown) => Told;

const session =
  (kind: 'checkout_completed' | 'checkout_expired' | 'checkout_payment_failed'): Reader =>
  (object) => ({ kind, session: sessionOf(StripeSession.parse(object)) });
const subscription: Reader = (object) => ({
  kind: 'subscription_changed',
  subscription: subscriptionOf(StripeSubscription.parse(object)),
});
const schedule: Reader = (object) => {
  const { customer, released_subscription: released, subscription: current } = StripeSchedule.parse(object);
  return { kind: 'schedule_changed', customerId: customer, subscriptionId: current ?? released };
};
const invoice =
  (kind: 'invoice_changed' | 'invoice_paid' | 'invoice_payment_failed'): Reader =>
  (object) => ({ kind, invoice: invoiceOf(StripeInvoice.parse(object)) });
const payment =
  (kind: 'payment_succeeded' | 'payment_failed'): Reader =>
  (object) => ({ kind, payment: paymentOf(StripePayment.parse(object)) });
const refund: Reader = (object) => ({ kind: 'refund_changed', refund: refundOf(StripeRefund.parse(object)) });
const dispute: Reader = (object) => ({ kind: 'dispute_changed', dispute: disputeOf(StripeDispute.parse(object)) });

/** The events that the gateway acts on: a webhook endpoint needs these and no others. */
const READERS: Readonly<Record<string, Reader>> = {
  'checkout.session.completed': session('checkout_completed'),
  'checkout.session.async_payment_succeeded': session('checkout_completed'),
  'checkout.session.async_payment_failed': session('checkout_payment_failed'),
  'checkout.session.expired': session('checkout_expired'),
  'customer.subscription.created': subscription,
  'customer.subscription.updated': subscription,
  'customer.subscription.deleted': subscription,
  'customer.subscription.paused': subscription,
  'customer.subscription.resumed': subscription,
  'subscription_schedule.created': schedule,
  'subscription_schedule.updated': schedule,
  'subscription_schedule.released': schedule,
  'subscription_schedule.canceled': schedule,
  'subscription_schedule.completed': schedule,
  'invoice.finalized': invoice('invoice_changed'),
  'invoice.updated': invoice('invoice_changed'),
  'invoice.voided': invoice('invoice_changed'),
  'invoice.marked_uncollectible': invoice('invoice_changed'),
  'invoice.paid': invoice('invoice_paid'),
  'invoice.payment_failed': invoice('invoice_payment_failed'),
  'payment_intent.succeeded': payment('payment_succeeded'),
  'payment_intent.payment_failed': payment('payment_failed'),
  'refund.created': refund,
  'refund.updated': refund,
  'refund.failed': refund,
  'charge.dispute.created': dispute,
  'charge.dispute.updated': dispute,
  'charge.dispute.closed': dispute,
  'charge.dispute.funds_withdrawn': dispute,
  'charge.dispute.funds_reinstated': dispute,
};

/** @throws Error on what is no event of Stripe's */
export function eventOf(json: unknown): PaymentEvent {
  const { created, data, id, livemode, type } = Envelope.parse(json);
  const told: Told = Object.hasOwn(READERS, type) ? (READERS[type]?.(data.object) ?? OTHER) : OTHER;
  if (hasNull(told)) throw new SyntaxError('The event has a null character, which no text of the database can hold');
  return { ...told, id, type, createdAtMs: created * 1000, livemode };
}

const hasNull = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNull);
};

const OTHER: Told = { kind: 'other' };

const TOLERANCE_SECONDS = 300;

interface SignedWebhook {
  readonly rawBody: Buffer;
  readonly signature: string | undefined;
  /** `whsec_…` */
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Whether the key of this server moves real money. */
  readonly livemode: boolean;
}

/**
 * The signature covers the bytes and the moment of sending, so that neither another body nor an old one is believed.
 * @throws WebhookRefused
 */
export function eventOfWebhook({ rawBody, signature, secret, nowMs, livemode }: SignedWebhook): PaymentEvent {
  if (signature === undefined) throw new WebhookRefused('unsigned', 'The webhook has no signature');
  try {
    // The SDK's event has the type that it hopes for; ours is parsed.
    Stripe.webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_SECONDS, undefined, nowMs);
    requireNoFuture(signature, nowMs);
    const event = eventOf(JSON.parse(rawBody.toString('utf8')));
    // What was paid with a card for tests buys nothing live, also where an operator has mixed up two secrets.
    if (event.livemode !== livemode) throw new WebhookRefused('other_mode', 'The event is of the other mode of Stripe');
    return event;
  } catch (cause) {
    if (cause instanceof WebhookRefused) throw cause;
    throw new WebhookRefused(faultOf(cause), cause instanceof Error ? cause.message : 'The webhook cannot be read', { cause });
  }
}

/** The SDK takes any moment that is to come: what was signed for it could be sent again until then. */
function requireNoFuture(signature: string, nowMs: number): void {
  const sentSeconds = Number(/(?:^|,)t=(\d+)/.exec(signature)?.[1]);
  if (!(sentSeconds <= nowMs / 1000 + TOLERANCE_SECONDS)) throw new WebhookRefused('stale', 'The webhook is of a time to come');
}

/** The SDK compares the signature first, and then its time; it tells the two apart by its words alone. */
function faultOf(cause: unknown): WebhookFault {
  if (!(cause instanceof Stripe.errors.StripeSignatureVerificationError)) return 'malformed';
  return cause.message.startsWith('Timestamp outside') ? 'stale' : 'unsigned';
}
