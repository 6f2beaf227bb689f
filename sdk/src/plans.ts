import type {
  CurrentPlanResponse,
  PlanAutoTopupRequest,
  PlanAutoTopupResponse,
  PlanBalanceCheckoutResponse,
  PlanBillingSummaryResponse,
  PlanCheckoutRequest,
  PlanCheckoutResponse,
  PlanCheckoutState,
  PlanConfigResponse,
  PlanDowngradePreviewResponse,
  PlanDowngradeScheduleResponse,
  PlanEntitlementMatrixResponse,
  PlanEntitlementsResponse,
  PlanId,
  PlanInvoiceListResponse,
  PlanInvoiceResponse,
  PlanInvoiceSummary,
  PlanOverageEstimateResponse,
  PlanPayment,
  PlanPaymentListResponse,
  PlanPaymentRefundRequest,
  PlanPortalRequest,
  PlanPortalResponse,
  PlanScheduledDowngradeApplyResponse,
  PlanSpendAlertsRequest,
  PlanSpendAlertsResponse,
  PlanUpgradePreviewResponse,
  PlanUsageQuotaResponse,
} from './generated/models.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';
import type { PagedCall, PageQuery } from './transport/paged-call.ts';
import { pathStep } from './transport/path.ts';
import type { Transport } from './transport/transport.ts';

/** Whose records are looked at. */
export interface PlanMode {
  /** False: those of the payment sandbox. Default: the mode of the API key that asks; live for sessions. */
  readonly livemode?: boolean | undefined;
}

/** What a balance is topped up with. */
export interface BalanceCheckout {
  /** Whole cents, `"1"` to `"10000"`. */
  readonly amount_usd: string;
  /** Keep the card for automatic top-ups. Default: false. */
  readonly save_card?: boolean | undefined;
  readonly success_url?: string | undefined;
  readonly cancel_url?: string | undefined;
}

export interface CheckoutWaitOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 2,000. */
  readonly pollMs?: number | undefined;
  /** Told of the checkout every time. */
  readonly onProgress?: ((checkout: PlanCheckoutState) => void) | undefined;
}

const POLL_MS = 2_000;

/** `tallygate.plans`: plans, quotas, and the money of the account. */
export class Plans {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Every plan as it is sold now, cheapest first. */
  list(options?: CallOptions): Call<PlanConfigResponse[]> {
    return this.#get('config', options);
  }

  /** The plan as it was sold to this account, its subscription, and what is scheduled. */
  current(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.#get('current', options);
  }

  /** What admission goes by. Changes count within a second. */
  entitlements(options?: CallOptions): Call<PlanEntitlementsResponse> {
    return this.#get('entitlements', options);
  }

  /** A row per entitlement, a value per plan. */
  compare(options?: CallOptions): Call<PlanEntitlementMatrixResponse> {
    return this.#get('entitlements/matrix', options);
  }

  /** This month's live usage against what the plan includes. */
  usage(options?: CallOptions): Call<PlanUsageQuotaResponse> {
    return this.#get('usage', options);
  }

  /** Balance, charges beyond the quota, what is due next, and whether a payment is late. */
  billing(options?: CallOptions): Call<PlanBillingSummaryResponse> {
    return this.#get('billing-summary', options);
  }

  /** Charges beyond the quota so far, and what the month comes to if usage goes on as it did. */
  overage(options?: CallOptions): Call<PlanOverageEstimateResponse> {
    return this.#get('overage-estimate', options);
  }

  /** What an upgrade would cost. Changes nothing; its `effective_at` given to `checkout` makes that cost exactly as much. */
  previewUpgrade(planId: PlanId, options?: CallOptions): Call<PlanUpgradePreviewResponse> {
    return this.#post('upgrade-preview', { plan_id: planId }, options);
  }

  /** What a downgrade would take away. Changes nothing. */
  previewDowngrade(planId: PlanId, options?: CallOptions): Call<PlanDowngradePreviewResponse> {
    return this.#post('downgrade-preview', { plan_id: planId }, options);
  }

  /** Schedules a cheaper plan for the end of the period that is paid for. */
  scheduleDowngrade(planId: PlanId, options?: CallOptions): Call<PlanDowngradeScheduleResponse> {
    return this.#once('downgrade-schedule', { plan_id: planId }, options);
  }

  /** Takes back what is scheduled. */
  cancelDowngrade(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.#transport.json({ method: 'DELETE', path: '/v1/plans/downgrade-schedule' }, options);
  }

  /** Applies the downgrades that are due; for the web front end, with its internal secret. */
  applyScheduledDowngrades(internalSecret: string, options?: CallOptions): Call<PlanScheduledDowngradeApplyResponse> {
    const headers = { 'x-internal-secret': internalSecret };
    const path = '/v1/plans/internal/apply-scheduled-downgrades';
    return this.#transport.json({ method: 'POST', path, body: {}, headers }, options);
  }

  /** Gets a plan: `open` is paid on the hosted page (`waitForCheckout`), `completed` was charged to the card on file. */
  checkout(request: PlanCheckoutRequest, options?: CallOptions): Call<PlanCheckoutResponse> {
    return this.#once('checkout', request, options);
  }

  /** Opens a hosted page to top the balance up. */
  topUp(request: BalanceCheckout, options?: CallOptions): Call<PlanBalanceCheckoutResponse> {
    return this.#once('balance-checkout', request, options);
  }

  /** How a checkout stands; `completed` once what was paid for is in effect. */
  getCheckout(checkoutId: string, options?: CallOptions): Call<PlanCheckoutState> {
    return this.#get(`checkouts/${pathStep(checkoutId)}`, options);
  }

  /** Asks now and then until the hosted page is paid or expired. */
  async waitForCheckout(
    checkoutId: string,
    { pollMs = POLL_MS, onProgress, ...options }: CheckoutWaitOptions = {},
  ): Promise<PlanCheckoutState> {
    for (;;) {
      const checkout = await this.getCheckout(checkoutId, options);
      onProgress?.(checkout);
      if (checkout.status !== 'open') return checkout;
      await sleep(pollMs, options.signal);
    }
  }

  /** Cancels the plan at the end of the period that is paid for. */
  cancel(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.#post('cancel', undefined, options);
  }

  /** Takes a cancellation back. */
  resume(options?: CallOptions): Call<CurrentPlanResponse> {
    return this.#post('resume', undefined, options);
  }

  /** A link to the page where the customer changes the card; good for minutes. */
  portal(request: PlanPortalRequest = {}, options?: CallOptions): Call<PlanPortalResponse> {
    return this.#post('portal', request, options);
  }

  /** Invoices, newest first. */
  invoices(query?: PageQuery & PlanMode, options?: CallOptions): PagedCall<PlanInvoiceListResponse, PlanInvoiceSummary> {
    return this.#transport.pages({ path: '/v1/plans/invoices', query: { ...query } }, ({ invoice_id }) => invoice_id, options);
  }

  /** An invoice with its lines. */
  getInvoice(invoiceId: string, options?: CallOptions): Call<PlanInvoiceResponse> {
    return this.#get(`invoices/${pathStep(invoiceId)}`, options);
  }

  /** An invoice as a page to print: `await (await plans.printInvoice(id)).text()`. */
  printInvoice(invoiceId: string, options?: CallOptions): Call<Response> {
    return this.#transport.download({ method: 'GET', path: `/v1/plans/invoices/${pathStep(invoiceId)}/html` }, options);
  }

  /** Everything that was paid, newest first, with what was returned of it. */
  payments(query?: PageQuery & PlanMode, options?: CallOptions): PagedCall<PlanPaymentListResponse, PlanPayment> {
    return this.#transport.pages({ path: '/v1/plans/payments', query: { ...query } }, ({ payment_id }) => payment_id, options);
  }

  /** Returns a payment of any account, or a part of it; for administrators. */
  refundPayment(paymentId: string, request: PlanPaymentRefundRequest, options?: CallOptions): Call<PlanPayment> {
    return this.#once(`payments/${pathStep(paymentId)}/refund`, request, options);
  }

  /** Automatic top-up as it stands. */
  autoTopup(options?: CallOptions): Call<PlanAutoTopupResponse> {
    return this.#get('auto-topup', options);
  }

  /** Charges the saved card whenever the balance is below the threshold. Sent anew, a declined card is tried again. */
  setAutoTopup(request: PlanAutoTopupRequest, options?: CallOptions): Call<PlanAutoTopupResponse> {
    return this.#transport.json({ method: 'PUT', path: '/v1/plans/auto-topup', body: request }, options);
  }

  /** The thresholds of monthly charges that are mailed, and those that were reached. */
  spendAlerts(options?: CallOptions): Call<PlanSpendAlertsResponse> {
    return this.#get('spend-alerts', options);
  }

  /** Replaces the thresholds. */
  setSpendAlerts(request: PlanSpendAlertsRequest, options?: CallOptions): Call<PlanSpendAlertsResponse> {
    return this.#transport.json({ method: 'PUT', path: '/v1/plans/spend-alerts', body: request }, options);
  }

  #get<T>(path: string, options: CallOptions | undefined): Call<T> {
    return this.#transport.json({ method: 'GET', path: `/v1/plans/${path}` }, options);
  }

  #post<T>(path: string, body: object | undefined, options: CallOptions | undefined): Call<T> {
    return this.#transport.json({ method: 'POST', path: `/v1/plans/${path}`, body }, options);
  }

  #once<T>(path: string, body: object, options: CallOptions | undefined): Call<T> {
    return this.#transport.json({ method: 'POST', path: `/v1/plans/${path}`, body, isOnce: true }, options);
  }
}
