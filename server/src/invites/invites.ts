import type { Pool } from 'pg';
import type { Identity } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Plans } from '../plans/index.ts';
import { createActivate } from './activate.ts';
import { createBatches } from './batches.ts';
import { grantDue } from './grant.ts';
import { lookUpDue } from './look-up.ts';
import { sendDue, type WayOut } from './send.ts';

interface InvitesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'claimable' | 'throttle' | 'sealForMail'>;
  readonly gifts: Plans['gifts'];
  readonly wayOut: WayOut;
}

/** The slice, put together. */
export const createInvites = ({ pool, clock, identity: { claimable, throttle, sealForMail }, gifts, wayOut }: InvitesDeps) => ({
  batches: createBatches({ pool, clock }),
  activate: createActivate({ pool, clock, throttle }),
  /** A job: gives what was activated, looks up who is to be invited, and sends invitations. */
  async goOn(signal?: AbortSignal): Promise<void> {
    await grantDue({ pool, clock, claimable, gifts }, signal);
    await lookUpDue({ pool, clock }, signal);
    await sendDue({ pool, clock, sealForMail, wayOut }, signal);
  },
});

export type Invites = ReturnType<typeof createInvites>;
