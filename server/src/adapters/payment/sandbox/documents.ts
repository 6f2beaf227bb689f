import { z } from 'zod';

// In Stripe's shape, as far as it is read from them: they are told of in events as they are.

const Seconds = z.number().int();
const Cents = z.number().int();
const Metadata = z.record(z.string(), z.string());

/** What a customer of the sandbox pays with. Each is good on the page; the others are declined once their owner has left. */
export const SandboxCard = z.enum(['good', 'no_funds_later', 'authentication_later']);
export type SandboxCard = z.infer<typeof SandboxCard>;

const Price = z.object({ id: z.string(), unit_amount: Cents, metadata: Metadata, name: z.string() });

const Customer = z.object({
  id: z.string(),
  account: z.string(),
  email: z.string(),
  card: SandboxCard.nullable(),
  /** Negative: a credit that later invoices use up. */
  balance: Cents,
  invoices: z.number().int(),
});

const Session = z.object({
  id: z.string(),
  mode: z.enum(['subscription', 'payment']),
  status: z.enum(['open', 'complete', 'expired']),
  payment_status: z.enum(['unpaid', 'paid']),
  url: z.string().nullable(),
  expires_at: Seconds,
  client_reference_id: z.string(),
  metadata: Metadata,
  customer: z.string(),
  amount_total: Cents,
  subscription: z.string().nullable(),
  payment_intent: z.string().nullable(),
  description: z.string(),
  price: z.string().nullable(),
  save_card: z.boolean(),
  success_url: z.string(),
  cancel_url: z.string(),
});

const Payment = z.object({
  id: z.string(),
  status: z.enum(['succeeded', 'requires_payment_method']),
  amount: Cents,
  created: Seconds,
  customer: z.string(),
  metadata: Metadata,
  latest_charge: z.object({ id: z.string(), amount_refunded: Cents, disputed: z.boolean() }),
  last_payment_error: z.object({ code: z.string(), decline_code: z.string(), message: z.string() }).nullable(),
  invoice: z.string().nullable(),
});

const Refund = z.object({
  id: z.string(),
  payment_intent: z.string(),
  amount: Cents,
  status: z.literal('succeeded'),
  metadata: Metadata,
  created: Seconds,
});

const Period = z.object({ start: Seconds, end: Seconds });

const Line = z.object({
  id: z.string(),
  amount: Cents,
  description: z.string(),
  period: Period,
  metadata: Metadata,
  parent: z.object({ subscription_item_details: z.object({ proration: z.boolean() }) }),
});

/** A line that waits for the next invoice. */
const InvoiceItem = Line.extend({ customer: z.string(), subscription: z.string(), invoice: z.string().nullable() });

const Subscription = z.object({
  id: z.string(),
  customer: z.string(),
  status: z.enum(['active', 'past_due', 'canceled']),
  created: Seconds,
  cancel_at_period_end: z.boolean(),
  ended_at: Seconds.nullable(),
  metadata: Metadata,
  latest_invoice: z.string().nullable(),
  schedule: z
    .object({ id: z.string(), phases: z.array(z.object({ start_date: Seconds, items: z.array(z.object({ price: Price })) })) })
    .nullable(),
  items: z.object({
    data: z.tuple([z.object({ id: z.string(), price: Price, current_period_start: Seconds, current_period_end: Seconds })]),
  }),
  /** When the first period began: periods end on its day of the month. */
  anchor: Seconds,
});

const Invoice = z.object({
  id: z.string(),
  number: z.string(),
  customer: z.string(),
  status: z.enum(['open', 'paid', 'uncollectible']),
  billing_reason: z.enum(['subscription_create', 'subscription_cycle', 'subscription_update', 'manual']),
  metadata: Metadata.default({}),
  total: Cents,
  amount_due: Cents,
  amount_paid: Cents,
  amount_remaining: Cents,
  created: Seconds,
  period_start: Seconds,
  period_end: Seconds,
  attempts: z.number().int(),
  next_payment_attempt: Seconds.nullable(),
  hosted_invoice_url: z.string(),
  /** Null of one that is billed by itself. */
  parent: z.object({ subscription_details: z.object({ subscription: z.string() }) }).nullable(),
  lines: z.object({ data: z.array(Line) }),
  payments: z.object({ data: z.array(z.object({ status: z.literal('paid'), payment: z.object({ payment_intent: z.string() }) })) }),
});

/** Lets in to the customer's billing page, for a while. */
const Portal = z.object({ id: z.string(), customer: z.string(), return_url: z.string(), expires_at: Seconds });

const Secret = z.object({ id: z.literal('webhook_secret'), value: z.string() });

export const DOCUMENTS = {
  price: Price,
  customer: Customer,
  session: Session,
  payment: Payment,
  refund: Refund,
  invoice_item: InvoiceItem,
  subscription: Subscription,
  invoice: Invoice,
  portal: Portal,
  secret: Secret,
} as const;

export type DocumentKind = keyof typeof DOCUMENTS;
export type DocumentOf<K extends DocumentKind> = z.infer<(typeof DOCUMENTS)[K]>;
export type SandboxLine = z.infer<typeof Line>;
