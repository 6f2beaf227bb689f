import type { Pool } from 'pg';
import type { Identity } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { createEditRegistration } from './edit-registration.ts';
import { linkUsers } from './link-users.ts';
import { createRegistrations } from './registrations.ts';
import { createSiteEvents } from './site-events.ts';

interface EventsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'claimable' | 'throttle'>;
}

/** The slice, put together. */
export const createEvents = ({ pool, clock, identity: { claimable, throttle } }: EventsDeps) => ({
  siteEvents: createSiteEvents({ pool, clock }),
  registrations: createRegistrations({ pool, clock, throttle }),
  editRegistration: createEditRegistration({ pool, clock }),
  /** A job: gives registrations the users of their addresses. */
  linkUsers: (signal?: AbortSignal): Promise<void> => linkUsers({ pool, claimable }, signal),
});

export type Events = ReturnType<typeof createEvents>;
