import type { VibethonRegistrationAdminUpdateRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Queryable } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import type { Trail } from './audit-trail.ts';
import { lockEvent } from './event-rows.ts';
import { queueEventMail } from './mail.ts';
import { fillPlaces } from './places.ts';
import { holdsPlace, inLine, type Registration } from './registration.ts';
import { type Changes, countPlaces, type ListedRegistration, nextTurn, registrationById, setRegistration } from './registration-rows.ts';
import { placesLeft, type SiteEvent } from './site-event.ts';

interface EditDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Ends the checkout pages of the event's places that are no longer held. */
  readonly endPages: (eventId: string) => Promise<void>;
}

/**
 * Changes a registration by hand, and gives a free place to the next on the waitlist.
 * @throws Problem `not_found`, `conflict`, `invalid_transition`
 */
export function createEditRegistration({ pool, clock, endPages }: EditDeps) {
  return async (registrationId: string, request: VibethonRegistrationAdminUpdateRequest, trail: Trail): Promise<ListedRegistration> => {
    const after = await inTransaction(pool, async (db) => {
      const nowMs = clock.now();
      const now = new Date(nowMs);
      const { event, before } = await lockRegistration(db, registrationId);
      const { status, note, attended, name, company } = request;
      const isMove = status !== undefined && status !== before.status;
      const changes: Changes = {
        ...(name !== undefined && { name }),
        ...(company !== undefined && { company }),
        ...(note !== undefined && { admin_note: note }),
        ...(attended !== undefined && { attended_at: attended ? (before.attended_at ?? now) : null }),
        ...(isMove && (await moved(db, { event, before, to: status, now }))),
      };
      const changed = EDITABLE.filter((field) => field in changes && changes[field] !== before[field]);
      if (changed.length > 0) {
        await setRegistration(db, registrationId, changes, now);
        const target = { kind: 'event_registration', id: registrationId };
        // Names and notes are the person's affair: that they changed is enough.
        const told = changed.map((field) => [field, TOLD.has(field) ? { from: before[field], to: changes[field] } : true]);
        await trail(db, { action: 'event_registration.updated', target, changes: Object.fromEntries(told) });
      }
      if (isMove) {
        await queueEventMail(db, event, { ...before, ...changes });
        await fillPlaces(db, event, nowMs);
      }
      return existing(await registrationById(db, registrationId));
    });
    if (request.status !== undefined) await endPages(after.event_id);
    return after;
  };
}

const EDITABLE = ['status', 'payment_status', 'name', 'company', 'admin_note', 'attended_at'] as const satisfies readonly (keyof Changes)[];
const TOLD: ReadonlySet<string> = new Set(['status', 'payment_status']);

/** The event first, as everybody does who gives or takes a place. @throws Problem `not_found` */
export async function lockRegistration(
  db: Queryable,
  registrationId: string,
): Promise<{ readonly event: SiteEvent; readonly before: ListedRegistration }> {
  const { event_id } = existing(await registrationById(db, registrationId));
  const event = await lockEvent(db, event_id);
  if (!event) throw new Error(`The event of the registration ${registrationId} does not exist`);
  await db.query('select from event_registrations where registration_id = $1 for update', [registrationId]);
  return { event, before: existing(await registrationById(db, registrationId)) };
}

interface Move {
  readonly event: SiteEvent;
  readonly before: Registration;
  readonly to: NonNullable<VibethonRegistrationAdminUpdateRequest['status']>;
  readonly now: Date;
}

async function moved(db: Queryable, { event, before, to, now }: Move): Promise<Changes> {
  switch (to) {
    case 'confirmed': {
      const isFree = holdsPlace(before) || placesLeft(event, await countPlaces(db, event)) !== 0;
      if (!isFree) throw new Problem('conflict', 'All places are taken: cancel another registration, or raise the capacity first.');
      const isOwed = before.payment_status === 'due' || before.payment_status === 'refunded';
      return { status: to, pay_by: null, confirmed_at: now, canceled_at: null, ...(isOwed && { payment_status: 'waived' as const }) };
    }
    case 'waitlisted':
      if (before.status !== 'canceled')
        throw new Problem(
          'invalid_transition',
          `The registration is ${before.status}: only one that is canceled can be put on the waitlist.`,
        );
      return { ...inLine(before), turn: await nextTurn(db), canceled_at: null };
    case 'canceled':
      if (before.payment_status === 'paid')
        throw new Problem('conflict', 'The place was paid for: refund it instead, which cancels the registration as well.');
      return { status: to, pay_by: null, confirmed_at: null, canceled_at: now };
    default:
      return to satisfies never;
  }
}

export const noSuchRegistration = (): Problem => new Problem('not_found', 'There is no such registration.');

function existing<T>(registration: T | undefined): T {
  if (registration === undefined) throw noSuchRegistration();
  return registration;
}
