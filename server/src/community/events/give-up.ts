import type { Pool } from 'pg';
import type { Identity } from '../../access/identity/index.ts';
import { formLimits } from '../../access/identity/index.ts';
import type { Origin } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { registrationInToken } from './cancel-token.ts';
import { lockRegistration } from './edit-registration.ts';
import { queueEventMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import { type ListedRegistration, registrationById, setRegistration } from './registration-rows.ts';

interface GiveUpDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Identity['throttle'];
  /** Ends the checkout pages of the event's places that are no longer held. */
  readonly endPages: (eventId: string) => Promise<void>;
}

/** One link is good for one registration: there is little reason to send many. */
const FORM = { kind: 'event-cancel', freePerSubject: 20, freePerAddress: 60 };

/**
 * Cancels one's own registration, by the link in a mail. The place goes to the person who has waited longest, in the same transaction, and both
 * get a mail. Idempotent.
 * @throws Problem `invalid_token`, `conflict` for a place that was paid for and an event that is over, `rate_limited`
 */
export const createGiveUp =
  ({ pool, clock, throttle, endPages }: GiveUpDeps) =>
  async (token: string, { ip }: Origin): Promise<ListedRegistration> => {
    await throttle.admit(formLimits({ ...FORM, subject: token, address: ip }));
    const gone = await inTransaction(pool, async (db) => {
      const registrationId = await registrationInToken(db, token);
      if (registrationId === undefined || !(await registrationById(db, registrationId))) throw invalid();
      const { event, before } = await lockRegistration(db, registrationId);
      if (before.status === 'canceled') return before;
      const nowMs = clock.now();
      if (event.ends_at.getTime() <= nowMs) throw new Problem('conflict', 'The event is over: there is nothing to give up any more.');
      if (before.payment_status === 'paid')
        throw new Problem('conflict', 'This place was paid for: ask the organisers for a refund, which gives it up as well.');
      const now = new Date(nowMs);
      const end = { status: 'canceled', pay_by: null, confirmed_at: null, canceled_at: now } as const;
      await setRegistration(db, registrationId, end, now);
      await queueEventMail(db, event, { ...before, ...end });
      await fillPlaces(db, event, nowMs);
      const after = await registrationById(db, registrationId);
      if (!after) throw new Error(`The registration ${registrationId} does not exist`);
      return after;
    });
    await endPages(gone.event_id);
    return gone;
  };

const invalid = (): Problem =>
  new Problem('invalid_token', 'This link is of no registration: use the one in the newest mail about the event.');
