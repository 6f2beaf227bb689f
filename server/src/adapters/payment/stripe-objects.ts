import { z } from 'zod';
import {
  type CheckoutSession,
  centsToNanoUsd,
  type Decline,
  type Dispute,
  type InvoiceLine,
  type Payment,
  type PaymentInvoice,
  type PlanRef,
  type Refund,
  type Subscription,
} from './port.ts';

/** Under these names our own ids travel in Stripe's metadata. */
export const METADATA = {
  account: 'tallygate_account',
  reference: 'tallygate_reference',
  plan: 'tallygate_plan',
  version: 'tallygate_version',
} as const;

/** The key by which a plan's price is found, `tallygate_pro_v1`. */
export const lookupKeyOf = ({ planId, version }: PlanRef): string => `tallygate_${planId}_v${version}`;

// Only the fields that are used, from answers and webhooks alike; other fields of Stripe are not looked at.

/** An id, or the object where it was expanded. */
const Id = z.union([z.string(), z.object({ id: z.string() })]).transform((value) => (typeof value === 'string' ? value : value.id));
const OptionalId = Id.nullish().transform((id) => id ?? undefined);
const Metadata = z
  .record(z.string(), z.string())
  .nullish()
  .transform((metadata) => metadata ?? {});
const Price = z.object({ id: z.string(), unit_amount: z.number().int().nullish(), metadata: Metadata });

export const StripeSubscription = z.object({
  id: z.string(),
  customer: Id,
  status: z.string(),
  created: z.number(),
  cancel_at_period_end: z.boolean(),
  ended_at: z.number().nullish(),
  metadata: Metadata,
  latest_invoice: OptionalId,
  schedule: z
    .union([
      z.string(),
      z.object({
        id: z.string(),
        phases: z.array(z.object({ start_date: z.number(), items: z.array(z.object({ price: z.union([z.string(), Price]) })) })),
      }),
    ])
    .nullish(),
  items: z.object({
    data: z.array(z.object({ id: z.string(), price: Price, current_period_start: z.number(), current_period_end: z.number() })).min(1),
  }),
});

export const StripeSession = z.object({
  id: z.string(),
  mode: z.enum(['subscription', 'payment']),
  status: z.enum(['open', 'complete', 'expired']),
  payment_status: z.string(),
  url: z.string().nullish(),
  expires_at: z.number(),
  client_reference_id: z.string().nullish(),
  metadata: Metadata,
  customer: OptionalId,
  amount_total: z.number().int().nullish(),
  subscription: OptionalId,
  payment_intent: OptionalId,
});

const Charge = z.object({ id: z.string(), amount_refunded: z.number().int(), disputed: z.boolean() });

export const StripePayment = z.object({
  id: z.string(),
  status: z.string(),
  amount: z.number().int(),
  created: z.number(),
  customer: OptionalId,
  metadata: Metadata,
  latest_charge: z.union([z.string(), Charge]).nullish(),
  last_payment_error: z.object({ code: z.string().nullish(), decline_code: z.string().nullish(), message: z.string().nullish() }).nullish(),
});

export const StripeRefund = z.object({
  id: z.string(),
  payment_intent: OptionalId,
  amount: z.number().int(),
  status: z.string().nullish(),
  metadata: Metadata,
  created: z.number(),
});

export const StripeDispute = z.object({
  id: z.string(),
  payment_intent: OptionalId,
  amount: z.number().int(),
  status: z.string(),
  reason: z.string(),
  created: z.number(),
});

const Line = z.object({
  id: z.string(),
  amount: z.number().int(),
  description: z.string().nullish(),
  period: z.object({ start: z.number(), end: z.number() }),
  metadata: Metadata,
  parent: z
    .object({
      invoice_item_details: z.object({ proration: z.boolean() }).nullish(),
      subscription_item_details: z.object({ proration: z.boolean() }).nullish(),
    })
    .nullish(),
});

export const StripeInvoice = z.object({
  id: z.string(),
  number: z.string().nullish(),
  customer: OptionalId,
  status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
  billing_reason: z.string().nullish(),
  total: z.number().int(),
  amount_due: z.number().int(),
  amount_paid: z.number().int(),
  amount_remaining: z.number().int(),
  created: z.number(),
  period_start: z.number(),
  period_end: z.number(),
  next_payment_attempt: z.number().nullish(),
  hosted_invoice_url: z.string().nullish(),
  invoice_pdf: z.string().nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: Id }).nullish() }).nullish(),
  lines: z.object({ data: z.array(Line), has_more: z.boolean().optional() }),
  payments: z.object({ data: z.array(z.object({ status: z.string(), payment: z.object({ payment_intent: OptionalId }) })) }).nullish(),
});

export const StripeSchedule = z.object({ id: z.string(), customer: Id, subscription: OptionalId, released_subscription: OptionalId });

const ms = (seconds: number): number => seconds * 1000;
const msOrNone = (seconds: number | null | undefined): number | undefined => (seconds == null ? undefined : seconds * 1000);

function planOf({ metadata }: z.output<typeof Price>): PlanRef | undefined {
  const [planId, version] = [metadata[METADATA.plan], Number(metadata[METADATA.version])];
  return planId !== undefined && Number.isSafeInteger(version) ? { planId, version } : undefined;
}

const STATUSES = ['incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled'] as const;

export function subscriptionOf(subscription: z.output<typeof StripeSubscription>): Subscription {
  const { items, metadata, schedule, status } = subscription;
  const [item] = items.data;
  if (!item) throw new Error(`The subscription ${subscription.id} has no items`);
  const next = typeof schedule === 'object' ? schedule?.phases.find((phase) => phase.start_date >= item.current_period_end) : undefined;
  const nextPrice = next?.items[0]?.price;
  return {
    id: subscription.id,
    customerId: subscription.customer,
    accountId: metadata[METADATA.account],
    reference: metadata[METADATA.reference],
    // The first payment did not come within a day: nothing was sold.
    status: STATUSES.find((one) => one === status) ?? 'canceled',
    plan: planOf(item.price),
    createdAtMs: ms(subscription.created),
    periodStartMs: ms(item.current_period_start),
    periodEndMs: ms(item.current_period_end),
    cancelsAtPeriodEnd: subscription.cancel_at_period_end,
    endedAtMs: msOrNone(subscription.ended_at),
    scheduleId: typeof schedule === 'object' ? schedule?.id : schedule,
    scheduledPlan: typeof nextPrice === 'object' ? planOf(nextPrice) : undefined,
    latestInvoiceId: subscription.latest_invoice,
  };
}

export const sessionOf = (session: z.output<typeof StripeSession>): CheckoutSession => ({
  id: session.id,
  mode: session.mode,
  status: session.status,
  isPaid: session.payment_status === 'paid' || session.payment_status === 'no_payment_required',
  url: session.url ?? undefined,
  expiresAtMs: ms(session.expires_at),
  accountId: session.client_reference_id ?? undefined,
  reference: session.metadata[METADATA.reference],
  customerId: session.customer,
  amount: centsToNanoUsd(session.amount_total ?? 0),
  subscriptionId: session.subscription,
  paymentId: session.payment_intent,
});

export function paymentOf(payment: z.output<typeof StripePayment>, invoiceId?: string): Payment {
  const { last_payment_error: failure, latest_charge: charge, metadata } = payment;
  return {
    id: payment.id,
    status: paymentStatus(payment.status, failure != null),
    amount: centsToNanoUsd(payment.amount),
    refunded: centsToNanoUsd(typeof charge === 'object' ? (charge?.amount_refunded ?? 0) : 0),
    customerId: payment.customer,
    accountId: metadata[METADATA.account],
    reference: metadata[METADATA.reference],
    invoiceId,
    createdAtMs: ms(payment.created),
    decline: failure ? declineOf(failure, payment.id) : undefined,
  };
}

function paymentStatus(status: string, hasFailed: boolean): Payment['status'] {
  if (status === 'succeeded' || status === 'canceled') return status;
  return hasFailed && status === 'requires_payment_method' ? 'failed' : 'pending';
}

interface StripeDecline {
  readonly code?: string | null | undefined;
  readonly decline_code?: string | null | undefined;
  readonly message?: string | null | undefined;
}

const REASONS = ['authentication_required', 'insufficient_funds', 'expired_card'] as const;

export const declineOf = ({ code, decline_code: declineCode, message }: StripeDecline, paymentId: string | undefined): Decline => ({
  reason:
    REASONS.find((one) => one === declineCode || one === code) ??
    (code === 'resource_missing' || code === 'payment_intent_unexpected_state' ? 'no_payment_method' : 'declined'),
  message: message ?? 'Your card was declined.',
  paymentId,
});

const REFUND_STATUSES = ['succeeded', 'failed', 'canceled'] as const;

export const refundOf = (refund: z.output<typeof StripeRefund>): Refund => ({
  id: refund.id,
  paymentId: refund.payment_intent,
  amount: centsToNanoUsd(refund.amount),
  status: REFUND_STATUSES.find((one) => one === refund.status) ?? 'pending',
  reference: refund.metadata[METADATA.reference],
  createdAtMs: ms(refund.created),
});

export const disputeOf = (dispute: z.output<typeof StripeDispute>): Dispute => ({
  id: dispute.id,
  paymentId: dispute.payment_intent,
  amount: centsToNanoUsd(dispute.amount),
  status: disputeStatus(dispute.status),
  reason: dispute.reason,
  createdAtMs: ms(dispute.created),
});

function disputeStatus(status: string): Dispute['status'] {
  // A prevented dispute and a closed inquiry took no money.
  if (status.startsWith('warning')) return status === 'warning_closed' ? 'won' : 'warning';
  return status === 'won' || status === 'prevented' ? 'won' : status === 'lost' ? 'lost' : 'open';
}

export const lineOf = (line: z.output<typeof Line>): InvoiceLine => ({
  id: line.id,
  description: line.description ?? '',
  amount: centsToNanoUsd(line.amount),
  periodStartMs: ms(line.period.start),
  periodEndMs: ms(line.period.end),
  isProration: line.parent?.invoice_item_details?.proration === true || line.parent?.subscription_item_details?.proration === true,
  reference: line.metadata[METADATA.reference],
});

const INVOICE_REASONS: Readonly<Record<string, PaymentInvoice['reason']>> = {
  subscription_create: 'first',
  subscription_cycle: 'renewal',
  subscription_update: 'change',
};

export const invoiceOf = (invoice: z.output<typeof StripeInvoice>): PaymentInvoice => ({
  id: invoice.id,
  number: invoice.number ?? undefined,
  customerId: invoice.customer,
  subscriptionId: invoice.parent?.subscription_details?.subscription,
  status: invoice.status,
  reason: INVOICE_REASONS[invoice.billing_reason ?? ''] ?? 'other',
  total: centsToNanoUsd(invoice.total),
  paid: centsToNanoUsd(invoice.amount_paid),
  remaining: centsToNanoUsd(invoice.amount_remaining),
  lines: invoice.lines.data.map(lineOf),
  createdAtMs: ms(invoice.created),
  periodStartMs: ms(invoice.period_start),
  periodEndMs: ms(invoice.period_end),
  nextAttemptAtMs: msOrNone(invoice.next_payment_attempt),
  hostedUrl: invoice.hosted_invoice_url ?? undefined,
  pdfUrl: invoice.invoice_pdf ?? undefined,
  paymentIds: (invoice.payments?.data ?? []).flatMap(({ payment, status }) => (status === 'paid' ? (payment.payment_intent ?? []) : [])),
});
