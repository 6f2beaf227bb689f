import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Plans } from '../../money/plans/index.ts';
import { createPlaceCheckouts } from './checkouts.ts';
import { createEditRegistration } from './edit-registration.ts';
import { endPages } from './end-pages.ts';
import { createGiveUp } from './give-up.ts';
import { linkUsers } from './link-users.ts';
import { createPayByMail } from './pay-by-mail.ts';
import { createRefundRegistration } from './refund-registration.ts';
import { createRegistrations } from './registrations.ts';
import { owedAgain } from './sandbox-places.ts';
import { createSiteEvents } from './site-events.ts';
import { releaseUnpaid } from './unpaid-places.ts';

interface EventsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly identity: Pick<Identity, 'claimable' | 'openReference' | 'throttle'>;
}

/** The slice, put together. */
export function createEvents({ pool, clock, plans, identity }: EventsDeps) {
  const { claimable, throttle } = identity;
  const { provider } = plans;
  const endPagesOf = (eventId: string) => endPages({ pool, provider }, eventId);
  const checkout = createPlaceCheckouts({ pool, plans, clock });
  return {
    siteEvents: createSiteEvents({ pool, clock, endPages: endPagesOf }),
    registrations: createRegistrations({ pool, clock, throttle }),
    editRegistration: createEditRegistration({ pool, clock, endPages: endPagesOf }),
    giveUp: createGiveUp({ pool, clock, throttle, endPages: endPagesOf }),
    checkout,
    payByMail: createPayByMail({ pool, clock, identity, checkout }),
    refundRegistration: createRefundRegistration({ pool, plans }),
    /** At a start of a gateway whose sandbox money buys nothing real. */
    owedAgain: (): Promise<void> => owedAgain({ pool, clock }),
    /** A job: gives registrations the users of their addresses. */
    linkUsers: (signal?: AbortSignal): Promise<void> => linkUsers({ pool, claimable }, signal),
    /** A job: releases the places that were not paid in time, and ends pages of places that no longer exist. */
    async releaseUnpaid(signal?: AbortSignal): Promise<void> {
      await releaseUnpaid({ pool, provider, clock }, signal);
      await endPages({ pool, provider }, undefined, signal);
    },
  };
}

export type Events = ReturnType<typeof createEvents>;
