import type { Pool } from 'pg';
import type { Identity } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Plans } from '../plans/index.ts';
import { createPlaceCheckouts } from './checkouts.ts';
import { createEditRegistration } from './edit-registration.ts';
import { linkUsers } from './link-users.ts';
import { createRefundRegistration } from './refund-registration.ts';
import { createRegistrations } from './registrations.ts';
import { createSiteEvents } from './site-events.ts';
import { releaseUnpaid } from './unpaid-places.ts';

interface EventsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly identity: Pick<Identity, 'claimable' | 'throttle'>;
}

/** The slice, put together. */
export const createEvents = ({ pool, clock, plans, identity: { claimable, throttle } }: EventsDeps) => ({
  siteEvents: createSiteEvents({ pool, clock }),
  registrations: createRegistrations({ pool, clock, throttle }),
  editRegistration: createEditRegistration({ pool, clock }),
  checkout: createPlaceCheckouts({ pool, plans, clock }),
  refundRegistration: createRefundRegistration({ pool, plans }),
  /** A job: gives registrations the users of their addresses. */
  linkUsers: (signal?: AbortSignal): Promise<void> => linkUsers({ pool, claimable }, signal),
  /** A job: takes back the places that nobody paid for in time. */
  releaseUnpaid: (signal?: AbortSignal): Promise<void> => releaseUnpaid({ pool, provider: plans.provider, clock }, signal),
});

export type Events = ReturnType<typeof createEvents>;
