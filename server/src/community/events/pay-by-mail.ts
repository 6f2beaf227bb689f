import type { Pool } from 'pg';
import { formLimits, type Identity } from '../../access/identity/index.ts';
import { type Origin, recordAudit } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf } from '../../kernel/statements.ts';
import type { Trail } from './audit-trail.ts';
import type { createPlaceCheckouts, PlaceCheckout } from './checkouts.ts';
import { type EventWithPlaces, eventById } from './event-rows.ts';
import { payReferenceOf, registrationOfReference } from './pay-reference.ts';
import { type ListedRegistration, registrationById } from './registration-rows.ts';
import { tables } from './tables.ts';

interface PayByMailDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly identity: Pick<Identity, 'claimable' | 'openReference' | 'throttle'>;
  readonly checkout: ReturnType<typeof createPlaceCheckouts>;
}

interface HeldPlace {
  readonly event: EventWithPlaces;
  readonly registration: ListedRegistration;
}

/** Asking the payment provider is worth more than a look at a page. */
const PAY = { kind: 'event-pay', freePerSubject: 20, freePerAddress: 200 };

/** Paying by the link in a mail, without a login: the link allows paying for that place only. */
export function createPayByMail({ pool, clock, identity: { claimable, openReference, throttle }, checkout }: PayByMailDeps) {
  /** @returns undefined once the place is no longer held, and for a token that was not sealed here */
  const held = async (slug: string, token: string): Promise<HeldPlace | undefined> => {
    const reference = openReference(token);
    const registration = reference === undefined ? undefined : await registrationById(pool, registrationOfReference(reference));
    if (!registration || payReferenceOf(registration) !== reference || registration.slug !== slug) return undefined;
    if (registration.status !== 'awaiting_payment' || (registration.pay_by?.getTime() ?? 0) <= clock.now()) return undefined;
    const event = await eventById(pool, registration.event_id);
    return event?.status === 'published' ? { event, registration } : undefined;
  };

  /** The account that the payment belongs to: that of the address. */
  const payerOf = async ({ user_id, email, name }: ListedRegistration): Promise<{ userId: string; accountId: string }> => {
    const payer = await firstOf(
      pool,
      tables
        .selectFrom('users')
        .select(['id as userId', 'account_id as accountId'])
        .where('id', '=', user_id)
        .where('closed_at', 'is', null),
    );
    if (payer) return payer;
    const user = await claimable.findOrMake({ email, name });
    if (user) return { userId: user.id, accountId: user.account.id };
    throw new Problem(
      'conflict',
      'There is an account with this address that nobody has proven to read it: set a password by the mail that was sent to it, then open this link again.',
    );
  };

  return {
    held,

    /** @throws Problem `not_found` where no place is held, `conflict`, `rate_limited`, `payments_unavailable` */
    async pay(slug: string, token: string, { origin, cancelUrl }: { origin: Origin; cancelUrl: string }): Promise<PlaceCheckout> {
      const place = await held(slug, token);
      if (!place) throw new Problem('not_found', 'No place is held by this link any more.');
      const { event, registration } = place;
      await throttle.admit(formLimits({ ...PAY, subject: registration.registration_id, address: origin.ip }));
      const payer = await payerOf(registration);
      const trail: Trail = (db, deed) =>
        recordAudit(db, {
          ...{ ...deed, accountId: payer.accountId, actor: { kind: 'user', id: payer.userId }, origin },
        });
      return checkout(event, { ...payer, role: 'member' }, trail, { email: registration.email, successUrl: undefined, cancelUrl });
    },
  };
}
