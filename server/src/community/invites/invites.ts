import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { AccountPlans } from '../../money/plans/index.ts';
import { createActivate } from './activate.ts';
import { createBatches } from './batches.ts';
import { GRANTS_DUE, grantDue } from './grant.ts';
import { LOOK_UPS_DUE, lookUpDue } from './look-up.ts';
import { INVITATIONS_DUE, sendDue, type UnsubscribeFooter } from './send.ts';

interface InvitesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'claimable' | 'throttle' | 'sealForMail'>;
  readonly plans: Pick<AccountPlans, 'gifts' | 'book'>;
  readonly unsubscribeFooter: UnsubscribeFooter;
}

/** The slice, put together. */
export const createInvites = ({ pool, clock, identity: { claimable, throttle, sealForMail }, plans, unsubscribeFooter }: InvitesDeps) => ({
  batches: createBatches({ pool, clock, plans: plans.book }),
  activate: createActivate({ pool, clock, throttle }),
  /** SQL: whether there is something for `goOn`. */
  due: `${GRANTS_DUE} or ${LOOK_UPS_DUE} or ${INVITATIONS_DUE}`,
  /** Gives what was activated, looks up who is to be invited, and sends invitations. */
  async goOn(signal?: AbortSignal): Promise<void> {
    await grantDue({ pool, clock, claimable, plans }, signal);
    await lookUpDue({ pool, clock }, signal);
    await sendDue({ pool, clock, sealForMail, unsubscribeFooter, plans: plans.book }, signal);
  },
});

export type Invites = ReturnType<typeof createInvites>;
