import type { contract, VibethonCheckoutRequest, VibethonCheckoutResponse } from '@tallygate/contract';
import type { Call, Handlers, Principal } from '../../http/index.ts';
import { rfc3339 } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { authorOf } from '../../money/plans/index.ts';
import { trailOf } from './audit-trail.ts';
import type { Events } from './events.ts';
import type { SiteEvent } from './site-event.ts';
import { listedToWire } from './wire.ts';

type CheckoutRoutesDeps = Pick<Events, 'siteEvents' | 'registrations' | 'checkout' | 'refundRegistration'>;

interface CheckoutCall extends Pick<Call, 'peer' | 'requestId'> {
  readonly principal: Principal;
  readonly headers: { readonly 'x-event-email'?: string | undefined };
  readonly body: VibethonCheckoutRequest;
}

export function checkoutRoutes(deps: CheckoutRoutesDeps): Handlers<typeof contract.eventCheckouts> {
  const { siteEvents, registrations, checkout, refundRegistration } = deps;
  const pay = async (event: SiteEvent, { principal, headers, body, ...call }: CheckoutCall): Promise<VibethonCheckoutResponse> => {
    const made = await checkout(event, principal, trailOf(principal, call), {
      email: headers['x-event-email'],
      successUrl: body.success_url,
      cancelUrl: body.cancel_url,
    });
    return {
      registration_id: made.registration.registration_id,
      event_slug: event.slug,
      status: made.status,
      checkout_id: made.checkoutId,
      checkout_url: made.url,
      amount_usd: formatUsd(made.registration.price_nano),
      expires_at: made.expiresAt && rfc3339(made.expiresAt),
    };
  };

  return {
    vibethon: async (call) => ({ status: 200, body: await pay(await registrations.vibethon(), call) }),
    event: async (call) => ({ status: 200, body: await pay(await siteEvents.published(call.params.slug), call) }),
    refund: async ({ principal, params, body, headers, ...call }) => {
      const order = { reason: body.reason, author: authorOf(principal, call), key: headers['idempotency-key'] };
      return { status: 200, body: listedToWire(await refundRegistration(params.registration_id, order)) };
    },
  };
}
