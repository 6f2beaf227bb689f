import type { NanoUsd } from '../../kernel/money.ts';

/** A plan as it was sold: the price of a version never changes. */
export interface PlanRef {
  readonly planId: string;
  readonly version: number;
}

/** What a plan's version costs. */
export interface ListedPrice extends PlanRef {
  /** As customers read it on the page and the invoice. */
  readonly name: string;
  readonly monthlyPrice: NanoUsd;
}

interface Command {
  /** At most 200 characters; the same text is the same command. */
  readonly idempotencyKey: string;
}

export interface EnsureCustomer extends Command {
  readonly accountId: string;
  /** What an earlier call answered, where it is known. */
  readonly customerId?: string | undefined;
  readonly email: string;
}

interface CheckoutReturn {
  readonly accountId: string;
  readonly customerId: string;
  /** Comes back in the session, the payment and the subscription: the id of our own record, say. */
  readonly reference: string;
  /** Where the browser goes after paying; `{CHECKOUT_SESSION_ID}` in it is replaced. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** Until when the page can be paid, 30 minutes to 24 hours ahead. Default 24 hours. */
  readonly expiresAtMs?: number;
}

export type CreateCheckout = Command &
  CheckoutReturn &
  (
    | { readonly mode: 'subscription'; readonly plan: PlanRef }
    | {
        readonly mode: 'payment';
        readonly amount: NanoUsd;
        /** What the page and the receipt call it. */
        readonly description: string;
        /** Keep the card for charges while the customer is away. */
        readonly saveCard: boolean;
      }
  );

export interface CheckoutSession {
  readonly id: string;
  readonly mode: 'subscription' | 'payment';
  readonly status: 'open' | 'complete' | 'expired';
  /** False while a slow payment method is still under way, although the session is complete. */
  readonly isPaid: boolean;
  /** Where to send the browser; undefined once the session is not open. */
  readonly url: string | undefined;
  readonly expiresAtMs: number;
  readonly accountId: string | undefined;
  readonly reference: string | undefined;
  readonly customerId: string | undefined;
  readonly amount: NanoUsd;
  /** Of a completed subscription. */
  readonly subscriptionId: string | undefined;
  /** Of a completed payment. */
  readonly paymentId: string | undefined;
}

export interface PortalLink {
  readonly customerId: string;
  readonly returnUrl: string;
}

export interface SavedPaymentMethod {
  readonly id: string;
  /** `visa`, …; the kind of method where it is no card. */
  readonly brand: string;
  readonly last4: string | undefined;
}

/**
 * `incomplete`: the first payment has not come yet; `past_due`: a renewal was declined and is being retried; `unpaid`: the retries are used
 * up; `canceled` is permanent.
 */
export type SubscriptionStatus = 'incomplete' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled';

export interface Subscription {
  readonly id: string;
  readonly customerId: string;
  readonly accountId: string | undefined;
  /** That of the checkout it came from. */
  readonly reference: string | undefined;
  readonly status: SubscriptionStatus;
  /** Undefined when somebody put it on a price that is none of ours. */
  readonly plan: PlanRef | undefined;
  readonly createdAtMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** It ends with the period instead of renewing. */
  readonly cancelsAtPeriodEnd: boolean;
  readonly endedAtMs: number | undefined;
  /** Something is scheduled; what it is, `readSubscription` tells. */
  readonly scheduleId: string | undefined;
  /** The plan that follows at the period's end. Told by `readSubscription` and the commands; undefined in events and lists. */
  readonly scheduledPlan: PlanRef | undefined;
  readonly latestInvoiceId: string | undefined;
}

export interface PreviewChange {
  readonly subscriptionId: string;
  readonly plan: PlanRef;
}

export interface ChangePreview {
  /** What is charged now: the new plan's share of the period that is left, less the old one's. Negative: a credit on later invoices. */
  readonly dueNow: NanoUsd;
  /** Also what was added for the next invoice: this is the next one. */
  readonly lines: readonly InvoiceLine[];
  /** The moment it was computed for; handed to `changeSubscription`, the charge is this one exactly. */
  readonly proratedAtMs: number;
  /** The end of the period under way, when `nextAmount` is due. */
  readonly nextChargeAtMs: number;
  /** The new plan's price; what is added until then comes on top. */
  readonly nextAmount: NanoUsd;
}

export interface ChangeSubscription extends Command, PreviewChange {
  /** From a preview; now when left out. */
  readonly proratedAtMs?: number;
}

/** Why a card was not charged. */
export interface Decline {
  /** `authentication_required`: the customer has to be there, on a page; `no_payment_method`: no card is saved. */
  readonly reason: 'authentication_required' | 'insufficient_funds' | 'expired_card' | 'no_payment_method' | 'declined';
  /** As the provider says it; for customers to read. */
  readonly message: string;
  /** The attempt, where there was one. */
  readonly paymentId: string | undefined;
}

export type ChangeOutcome =
  | { readonly changed: true; readonly subscription: Subscription; readonly invoiceId: string | undefined }
  | { readonly changed: false; readonly decline: Decline };

export interface ScheduleChange extends Command {
  readonly subscriptionId: string;
  readonly plan: PlanRef;
}

export interface CancelSubscription extends Command {
  readonly subscriptionId: string;
  readonly at: 'now' | 'period_end';
}

export interface ResumeSubscription extends Command {
  readonly subscriptionId: string;
}

export interface ChargeOffSession extends Command {
  readonly accountId: string;
  readonly customerId: string;
  readonly reference: string;
  readonly amount: NanoUsd;
  readonly description: string;
}

export type ChargeOutcome =
  | { readonly charged: true; readonly payment: Payment }
  /** A slow method: the events tell how it ends. */
  | { readonly charged: 'pending'; readonly payment: Payment }
  | { readonly charged: false; readonly decline: Decline };

export interface FindPayment {
  readonly customerId: string;
  readonly reference: string;
  /** Not made before. */
  readonly sinceMs: number;
}

/** One payment, whatever it was for. */
export interface Payment {
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly amount: NanoUsd;
  /** What of it has been returned so far. Zero in events that announce the payment itself. */
  readonly refunded: NanoUsd;
  readonly customerId: string | undefined;
  readonly accountId: string | undefined;
  /** That of the checkout or the charge; undefined for payments of invoices. */
  readonly reference: string | undefined;
  /** The invoice it paid. Undefined in events, which do not carry it. */
  readonly invoiceId: string | undefined;
  readonly createdAtMs: number;
  /** Of the last attempt that failed. */
  readonly decline: Decline | undefined;
}

export interface RefundPayment extends Command {
  readonly paymentId: string;
  /** All that is left, when left out. */
  readonly amount?: NanoUsd;
  readonly reference: string;
}

export interface Refund {
  readonly id: string;
  readonly paymentId: string | undefined;
  readonly amount: NanoUsd;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  /** Of `refund`; undefined for one that was made at the provider by hand. */
  readonly reference: string | undefined;
  readonly createdAtMs: number;
}

export type RefundOutcome =
  | { readonly refunded: true; readonly refund: Refund }
  /** `exceeds_payment`: less than that is left; `disputed`: the bank has taken the money back already. */
  | { readonly refunded: false; readonly reason: 'exceeds_payment' | 'disputed' | 'not_paid'; readonly message: string };

/** The customer's bank takes a payment back, at first for the time being. */
export interface Dispute {
  readonly id: string;
  readonly paymentId: string | undefined;
  readonly amount: NanoUsd;
  /** `warning`: an inquiry, no money has moved. Won: the money has come back. */
  readonly status: 'warning' | 'open' | 'won' | 'lost';
  readonly reason: string;
  readonly createdAtMs: number;
}

export interface IssueInvoice extends Command {
  readonly customerId: string;
  readonly amount: NanoUsd;
  readonly description: string;
  readonly reference: string;
  /** When it was used. */
  readonly periodStartMs: number;
  readonly periodEndMs: number;
}

export interface AddInvoiceItem extends IssueInvoice {
  readonly subscriptionId: string;
}

export interface InvoiceItem {
  readonly id: string;
  readonly amount: NanoUsd;
}

export interface InvoiceLine {
  readonly id: string;
  readonly description: string;
  /** Negative for what is given back. */
  readonly amount: NanoUsd;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly isProration: boolean;
  /** Of `addInvoiceItem`. */
  readonly reference: string | undefined;
}

export interface PaymentInvoice {
  readonly id: string;
  /** As it is printed; drafts have none. */
  readonly number: string | undefined;
  readonly customerId: string | undefined;
  readonly subscriptionId: string | undefined;
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  readonly reason: 'first' | 'renewal' | 'change' | 'other';
  readonly total: NanoUsd;
  readonly paid: NanoUsd;
  readonly remaining: NanoUsd;
  /** At most the first ten in events; all of them from `readInvoice`. */
  readonly lines: readonly InvoiceLine[];
  readonly createdAtMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** When the card is tried again. */
  readonly nextAttemptAtMs: number | undefined;
  /** Pages for the customer. */
  readonly hostedUrl: string | undefined;
  readonly pdfUrl: string | undefined;
  /** The payments that paid it. Empty in events, which do not carry them. */
  readonly paymentIds: readonly string[];
}
