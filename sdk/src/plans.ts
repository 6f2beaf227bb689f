import type { PlanCheckoutState, PlanScheduledDowngradeApplyResponse } from './generated/models.ts';
import { Plans as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { sleep } from './transport/deadline.ts';

export interface CheckoutWaitOptions extends CallOptions {
  /** How long to wait before asking again, milliseconds. Default: 2,000. */
  readonly pollMs?: number | undefined;
  /** Called with the checkout every time. */
  readonly onProgress?: ((checkout: PlanCheckoutState) => void) | undefined;
}

const POLL_MS = 2_000;

/** `tallygate.plans`: plans, quotas, and the money of the account. */
export class Plans extends Generated {
  /** Applies the downgrades that are due; for the web front end, with its internal secret. */
  applyScheduledDowngrades(internalSecret: string, options?: CallOptions): Call<PlanScheduledDowngradeApplyResponse> {
    const headers = { 'x-internal-secret': internalSecret };
    const path = '/v1/plans/internal/apply-scheduled-downgrades';
    return this.transport.json({ method: 'POST', path, body: {}, headers }, options);
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
}
