import type { NanoUsd } from '../../kernel/money.ts';
import type { PaymentEvent } from './payment-event.ts';
import type {
  AddInvoiceItem,
  CancelSubscription,
  ChangeOutcome,
  ChangePreview,
  ChangeSubscription,
  ChargeOffSession,
  ChargeOutcome,
  CheckoutSession,
  CreateCheckout,
  EnsureCustomer,
  FindPayment,
  InvoiceItem,
  IssueInvoice,
  ListedPrice,
  Payment,
  PaymentInvoice,
  PortalLink,
  PreviewChange,
  Refund,
  RefundOutcome,
  RefundPayment,
  ResumeSubscription,
  SavedPaymentMethod,
  ScheduleChange,
  Subscription,
} from './payment-objects.ts';

export type * from './payment-event.ts';
export type * from './payment-objects.ts';

/**
 * The payment provider: Stripe, or the sandbox that is built in. All amounts are USD, in nano-USD, and whole cents.
 *
 * Every command carries the caller's `idempotencyKey`: repeated under the same key within a day it has one effect and one answer.
 * What happened is told by events, at least once and in any order; so an event is a reason to read the present object (`readSubscription`,
 * `readPayment`, …), and never a step to be counted.
 *
 * Refusals that a customer can meet (a declined card, a refund beyond what is left) are values. All methods throw PaymentFault when the
 * provider cannot be asked or does not accept the request.
 */
export interface PaymentProvider {
  readonly kind: 'stripe' | 'sandbox';
  /** Whether real money moves. */
  readonly livemode: boolean;

  /** Makes a product per plan and a price per plan and version, once each; to be called at every start, before any checkout. */
  provision(prices: readonly ListedPrice[]): Promise<void>;

  /** The customer of an account, made at the first call; later calls bring the e-mail address up to date. @returns its id (`cus_…`) */
  ensureCustomer(command: EnsureCustomer): Promise<string>;

  /** A hosted page on which the customer subscribes to a plan or pays an amount once. */
  createCheckout(command: CreateCheckout): Promise<CheckoutSession>;
  readCheckout(sessionId: string): Promise<CheckoutSession | undefined>;
  /** Ends an open session, so that it can no longer be paid. @returns the session as it is now, which may be complete */
  expireCheckout(sessionId: string): Promise<CheckoutSession | undefined>;

  /** A hosted page where the customer sees invoices, changes the card and cancels. @returns a URL that is good for minutes */
  createPortalLink(link: PortalLink): Promise<string>;
  /** The card that off-session charges go to. */
  readPaymentMethod(customerId: string): Promise<SavedPaymentMethod | undefined>;

  readSubscription(subscriptionId: string): Promise<Subscription | undefined>;
  /** All of them, ended ones too, newest first. */
  listSubscriptions(customerId: string): Promise<Subscription[]>;
  /** What `changeSubscription` would cost; changes nothing. */
  previewChange(change: PreviewChange): Promise<ChangePreview>;
  /**
   * Puts a subscription on another plan at once. The difference for the rest of the period is charged now; when it cannot be charged,
   * nothing changes. A change that was scheduled and an intended cancellation are dropped.
   */
  changeSubscription(change: ChangeSubscription): Promise<ChangeOutcome>;
  /** Puts a subscription on another plan when the paid period ends; replaces what was scheduled before. Nothing is charged or returned. */
  scheduleChange(change: ScheduleChange): Promise<Subscription>;
  /** Drops what was scheduled; the subscription goes on as it is. Without effect where nothing is scheduled. */
  releaseSchedule(command: { readonly subscriptionId: string; readonly idempotencyKey: string }): Promise<Subscription>;
  /** Ends a subscription now, or when the paid period ends (which drops what was scheduled). No money is returned. */
  cancelSubscription(command: CancelSubscription): Promise<Subscription>;
  /** Takes a cancellation back that was to happen at the period's end. Without effect on any other subscription that has not ended. */
  resumeSubscription(command: ResumeSubscription): Promise<Subscription>;

  /** Charges the saved card while the customer is away. */
  chargeOffSession(charge: ChargeOffSession): Promise<ChargeOutcome>;
  readPayment(paymentId: string): Promise<Payment | undefined>;
  /** The payment that was begun under a reference of `chargeOffSession`: in any state, and long after its key was forgotten. */
  findPayment(wanted: FindPayment): Promise<Payment | undefined>;
  /** Returns all or a part of a payment to where it came from. */
  refund(command: RefundPayment): Promise<RefundOutcome>;
  /** What was returned of a payment under a reference of `refund`. */
  findRefund(paymentId: string, reference: string): Promise<Refund | undefined>;

  /** Puts a line on the next invoice of a subscription; what a month used beyond its quota, say. */
  addInvoiceItem(item: AddInvoiceItem): Promise<InvoiceItem>;
  /** Takes a line back that is on no invoice yet. @returns the invoice that it is on; undefined when it is on none and gone */
  withdrawInvoiceItem(itemId: string): Promise<string | undefined>;
  /**
   * Bills an amount by itself, without any subscription, and charges the saved card for it. One that is not paid stays open, with a page to
   * pay it on. Under one reference there is one invoice, for ever.
   */
  issueInvoice(command: IssueInvoice): Promise<PaymentInvoice>;
  readInvoice(invoiceId: string): Promise<PaymentInvoice | undefined>;
  /** Newest first, drafts left out. */
  listInvoices(customerId: string, options?: { readonly limit?: number }): Promise<PaymentInvoice[]>;

  /**
   * Every event from that moment on (epoch milliseconds), oldest first, as far back as the provider remembers (30 days); for the
   * reconciler, which finds what no webhook told. An event has the same id here and there.
   */
  listEvents(sinceMs: number): AsyncIterable<PaymentEvent>;
  /**
   * @param rawBody the bytes as they arrived, before any parser
   * @param signature the header `stripe-signature`
   * @throws WebhookRefused when it is not signed with our secret, is older than five minutes, or is no event
   */
  verifyWebhook(rawBody: Buffer, signature: string | undefined): PaymentEvent;

  /** Ends what runs in the background. */
  close(): Promise<void>;
}

/** Why a request to the provider came to nothing; `unavailable` may pass by itself, the others will not. */
export type PaymentFaultKind =
  /** No answer, or one of 429 and 5xx, after all retries. */
  | 'unavailable'
  /** The credentials are wrong, or may not do this. */
  | 'unauthorised'
  /** What the command names is not there. */
  | 'not_found'
  /** The key was used for another command before. */
  | 'idempotency_conflict'
  /** The provider does not accept this in the present state, or ever. */
  | 'invalid';

export class PaymentFault extends Error {
  readonly kind: PaymentFaultKind;
  /** The provider's name for its answer, for its support: logged, never sent. */
  readonly providerRequestId: string | undefined;

  constructor(kind: PaymentFaultKind, message: string, options: ErrorOptions & { providerRequestId?: string | undefined } = {}) {
    super(message, options);
    this.name = 'PaymentFault';
    this.kind = kind;
    this.providerRequestId = options.providerRequestId;
  }
}

/** `unsigned`: not signed with our secret. `stale`: signed too long ago, or in the future. `malformed`: signed, and of a form that is not known. */
export type WebhookFault = 'unsigned' | 'stale' | 'malformed' | 'other_mode';

/** A webhook that is not to be believed, or cannot be read. */
export class WebhookRefused extends Error {
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookRefused';
    this.fault = fault;
  }
}

const NANO_USD_PER_CENT = 10_000_000n;

export const centsToNanoUsd = (cents: number): NanoUsd => BigInt(cents) * NANO_USD_PER_CENT;

/** @throws RangeError on an amount that is no whole number of cents: rounding money is the caller's decision */
export function nanoUsdToCents(amount: NanoUsd): number {
  if (amount % NANO_USD_PER_CENT !== 0n) throw new RangeError(`${amount} nano-USD is no whole number of cents`);
  return Number(amount / NANO_USD_PER_CENT);
}
