import type { VibethonCheckoutRequest, VibethonCheckoutResponse } from './generated/models.ts';
import { Events as Generated } from './generated/resources.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { pathStep } from './transport/path.ts';

/** How to pay for a place. */
export interface EventCheckout extends VibethonCheckoutRequest {
  /** The address that is registered, where it is not the caller’s own. */
  readonly email?: string | undefined;
}

/**
 * `tallygate.events`: events of the site. Reading and registering needs no credential, paying a login or a key with `billing:write`, and the rest
 * the role `admin`.
 */
export class Events extends Generated {
  /** Pays for a place that is held: `open` is paid on the hosted page, and `plans.waitForCheckout` waits for it. */
  checkout(slug: string, { email, ...request }: EventCheckout = {}, options?: CallOptions): Call<VibethonCheckoutResponse> {
    const headers = email === undefined ? {} : { 'x-event-email': email };
    return this.transport.json({ method: 'POST', path: `${eventPath(slug)}/checkout`, body: request, headers, isOnce: true }, options);
  }
}

const eventPath = (slug: string): string => `/v1/events/${pathStep(slug)}`;
