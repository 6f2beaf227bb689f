import type { VibethonRegistrationRequest } from '@tallygate/contract';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Identity } from '../../access/identity/index.ts';
import { formLimits } from '../../access/identity/index.ts';
import type { Origin } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { createGate } from '../../kernel/gate.ts';
import { newId } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRows, type Queryable } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { claimConsent, upsertContact } from '../people/index.ts';
import { type EventWithPlaces, eventBySlug, lockEvent } from './event-rows.ts';
import { queueEventMail } from './mail.ts';
import { hasRoom, inLine, withPlace } from './registration.ts';
import {
  countPlaces,
  type ListedRegistration,
  listRegistrations,
  nextTurn,
  registrationOf,
  type WhichRegistrations,
} from './registration-rows.ts';
import { type SiteEvent, takesRegistrations } from './site-event.ts';
import { noSuchEvent } from './site-events.ts';

interface RegistrationsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly throttle: Identity['throttle'];
}

/** Connections that registrations may hold at once: they wait for each other at the event. */
const MOST_AT_ONCE = 4;

/** Per hour, for free actions. A whole venue may share one IP address. */
const REGISTER = { kind: 'event-register', freePerSubject: 20, freePerAddress: 2_000 };
const STATUS = { kind: 'event-status', freePerSubject: 60, freePerAddress: 120 };

const Made = z.object({ registration_id: z.string() });

/** Taking part in an event. */
export function createRegistrations({ pool, clock, throttle }: RegistrationsDeps) {
  const inTurn = createGate(MOST_AT_ONCE);

  return {
    /**
     * The registration of an address: a new one, or the existing one. Whether an account exists is not looked up here: a job does that
     * later, so that neither the answer nor its timing reveals it.
     * @throws Problem `rate_limited`, `registration_closed`
     */
    async register(event: SiteEvent, request: VibethonRegistrationRequest, { ip }: Origin): Promise<ListedRegistration> {
      await throttle.admit(formLimits({ ...REGISTER, subject: request.email.toLowerCase(), address: ip }));
      return inTurn(() =>
        inTransaction(pool, async (db) => {
          const locked = await lockEvent(db, event.event_id);
          if (!locked) throw noSuchEvent();
          const before = await registrationOf(db, event.event_id, request.email);
          if (before && before.status !== 'canceled') {
            await noteConsent(db, locked, request, clock.now());
            return before;
          }
          if (!takesRegistrations(locked, clock.now()))
            throw new Problem('registration_closed', 'This event takes no registrations at the moment.');
          await enter(db, locked, request, clock.now());
          await noteConsent(db, locked, request, clock.now());
          const made = await registrationOf(db, event.event_id, request.email);
          if (!made) throw new Error('A registration was written and is not there');
          return made;
        }),
      );
    },

    /** @throws Problem `rate_limited` */
    async status(event: SiteEvent, email: string, { ip }: Origin): Promise<ListedRegistration | undefined> {
      await throttle.admit(formLimits({ ...STATUS, subject: email.toLowerCase(), address: ip }));
      return registrationOf(pool, event.event_id, email);
    },

    list: (which?: WhichRegistrations): Promise<ListedRegistration[]> => listRegistrations(pool, which),

    /** @throws Error where the migration that makes it was not applied */
    async vibethon(): Promise<EventWithPlaces> {
      const event = await eventBySlug(pool, 'vibethon');
      if (!event) throw new Error('The Vibethon does not exist');
      return event;
    },
  };
}

export type Registrations = ReturnType<typeof createRegistrations>;

/** Writes a registration that takes a place, or joins the waitlist, with its contact and its mail. */
async function enter(db: Queryable, event: SiteEvent, request: VibethonRegistrationRequest, nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  const owed = { price_nano: event.price_nano, payment_status: 'due' as const };
  const standing = hasRoom(event, await countPlaces(db, event)) ? withPlace(owed, nowMs) : inLine(owed);
  const turn = await nextTurn(db);
  const made = await writeRegistration(db, { event, request, standing, turn, now });
  await upsertContact(db, {
    ...{ email: request.email, name: request.name, company: request.company },
    ...{ source: 'registration', eventSlug: event.slug, at: now },
  });
  await queueEventMail(db, event, { ...standing, ...made, email: request.email, turn, price_nano: event.price_nano });
}

interface NewRegistration {
  readonly event: SiteEvent;
  readonly request: VibethonRegistrationRequest;
  readonly standing: ReturnType<typeof inLine>;
  readonly turn: bigint;
  readonly now: Date;
}

async function writeRegistration(db: Queryable, { event, request, standing, turn, now }: NewRegistration) {
  const rows = await checkedRows(
    db,
    Made,
    // An existing row was canceled: it starts again. The earlier payment stays recorded, so that it does not count again,
    // and so does a page that may still be paid.
    `insert into event_registrations as r (registration_id, event_id, email, name, company, message, status, payment_status, pay_by, turn,
       price_nano, confirmed_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)
     on conflict (event_id, lower(email)) do update set status = excluded.status, payment_status = excluded.payment_status,
       pay_by = excluded.pay_by, turn = excluded.turn, price_nano = excluded.price_nano, confirmed_at = excluded.confirmed_at,
       canceled_at = null, created_at = excluded.created_at, updated_at = excluded.updated_at,
       checkout_id = (select page.checkout_id from checkouts page where page.checkout_id = r.checkout_id and page.status = 'open')
     returning registration_id`,
    [
      newId(),
      event.event_id,
      request.email,
      request.name ?? null,
      request.company ?? null,
      request.message ?? null,
      standing.status,
      standing.payment_status,
      standing.pay_by,
      turn.toString(),
      event.price_nano.toString(),
      standing.status === 'confirmed' ? now : null,
      now,
    ],
  );
  const [made] = rows;
  if (!made) throw new Error('A registration was written and is not there');
  return made;
}

/** Also for a repeated registration that ticks it now. */
async function noteConsent(
  db: Queryable,
  { slug }: SiteEvent,
  { email, marketing_consent: hasConsented }: VibethonRegistrationRequest,
  nowMs: number,
): Promise<void> {
  if (hasConsented) await claimConsent(db, { email, source: 'registration', eventSlug: slug, at: new Date(nowMs) });
}
