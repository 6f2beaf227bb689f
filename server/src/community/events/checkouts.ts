import type { Pool } from 'pg';
import type { Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, type Queryable } from '../../kernel/statements.ts';
import { asking, type Plans, type Trail, type Unit } from '../../money/plans/index.ts';
import { referenceOf } from './paid-registration.ts';
import type { Registration } from './registration.ts';
import { registrationById, registrationOf, setRegistration } from './registration-rows.ts';
import type { SiteEvent } from './site-event.ts';
import { tables } from './tables.ts';

/** Less is not sold by payment providers; more is not held for anybody. */
const [LEAST_PAGE_MS, LONGEST_PAGE_MS] = [31 * 60_000, 24 * 3_600_000 - 60_000];

interface CheckoutsDeps {
  readonly pool: Pool;
  readonly plans: Pick<Plans, 'provider' | 'exclusively' | 'checkouts'>;
  readonly clock: Clock;
}

interface CheckoutRequest {
  /** Whose registration it is; the caller's own where it is left out. */
  readonly email: string | undefined;
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | undefined;
}

/** Who pays. */
type Payer = Pick<Principal, 'accountId' | 'userId' | 'role'>;

/** The next step of the payment of a place. */
export interface PlaceCheckout {
  readonly registration: Registration;
  readonly status: 'not_required' | 'open' | 'completed';
  readonly checkoutId: string | null;
  readonly url: string | null;
  readonly expiresAt: Date | null;
}

/** Hosted pages on which places are paid. */
export function createPlaceCheckouts({ pool, plans, clock }: CheckoutsDeps) {
  /** @throws Problem `not_found`, `conflict`, `payments_unavailable` */
  return async (event: SiteEvent, caller: Payer, trail: Trail, request: CheckoutRequest): Promise<PlaceCheckout> => {
    const { registration_id } = await payable(pool, event, caller, request.email);
    return asking(
      plans.exclusively(caller.accountId, async (db) => {
        // Of two who pay for one registration at once, the second meets the page of the first.
        await db.query('select from event_registrations where registration_id = $1 for update', [registration_id]);
        const registration = await registrationById(db, registration_id);
        if (!registration) throw new Error(`The registration ${registration_id} does not exist`);
        const settled = { registration, checkoutId: null, url: null, expiresAt: null };
        switch (registration.status) {
          case 'confirmed':
            return { ...settled, status: registration.payment_status === 'paid' ? 'completed' : 'not_required' };
          case 'waitlisted':
            throw new Problem('conflict', 'All places are taken, and this address is on the waitlist: pay once a place is held for it.');
          case 'canceled':
            throw new Problem('conflict', 'This registration is canceled: register again, then pay.');
          case 'awaiting_payment':
            plans.checkouts.requirePurchases();
            return (
              (await openPage(db, plans.provider, registration, caller)) ??
              createPage(db, { plans, nowMs: clock.now() }, { event, registration, caller, trail, request })
            );
          default:
            return registration.status satisfies never;
        }
      }),
    );
  };
}

/**
 * The users who may pay for an address: its owner, users of its owner's account, and administrators. For all others it is an address that is
 * not registered.
 */
async function payable(pool: Pool, event: SiteEvent, caller: Payer, email: string | undefined): Promise<Registration> {
  const own = (await firstOf(pool, tables.selectFrom('users').select('email').where('id', '=', caller.userId)))?.email ?? '';
  const wanted = email ?? own;
  const registration = await registrationOf(pool, event.event_id, wanted);
  if (
    registration &&
    (caller.role === 'admin' || wanted.toLowerCase() === own.toLowerCase() || (await isColleague(pool, registration, caller)))
  )
    return registration;
  throw new Problem('not_found', 'This address is not registered for the event: register it first, or name another one in X-Event-Email.');
}

const isColleague = async (pool: Pool, { user_id }: Registration, { accountId }: Payer): Promise<boolean> =>
  (await pool.query('select from users where id = $1 and account_id = $2', [user_id, accountId])).rowCount === 1;

/** The page that is open already; ended if it is another user's or has another price. @returns undefined if there is none to reuse */
async function openPage(
  db: Queryable,
  provider: Plans['provider'],
  registration: Registration,
  caller: Payer,
): Promise<PlaceCheckout | undefined> {
  const page = await firstOf(
    db,
    tables
      .selectFrom('checkouts')
      .select(
        (eb) =>
          ['checkout_id', 'account_id', 'amount_nano', 'url', 'expires_at', eb.ref('session_id').$notNull().as('session_id')] as const,
      )
      .where('checkout_id', '=', registration.checkout_id),
  );
  if (!page) return undefined;
  const isOwn = page.account_id === caller.accountId && page.amount_nano === registration.price_nano;
  const session = isOwn ? await provider.readCheckout(page.session_id) : await provider.expireCheckout(page.session_id);
  // Paid; the webhook event about it has not arrived yet.
  if (session?.status === 'complete')
    return { registration, status: 'completed', checkoutId: page.checkout_id, url: null, expiresAt: null };
  if (session?.status !== 'open' || !isOwn) return undefined;
  return { registration, status: 'open', checkoutId: page.checkout_id, url: page.url, expiresAt: page.expires_at };
}

interface NewPage {
  readonly event: SiteEvent;
  readonly registration: Registration;
  readonly caller: Payer;
  readonly trail: Trail;
  readonly request: CheckoutRequest;
}

async function createPage(
  db: Unit,
  { plans, nowMs }: { readonly plans: CheckoutsDeps['plans']; readonly nowMs: number },
  { event, registration, caller, trail, request }: NewPage,
): Promise<PlaceCheckout> {
  const present = await firstOf(db, tables.selectFrom('site_events').select('status').where('event_id', '=', event.event_id));
  if (present?.status !== 'published') throw new Problem('conflict', 'This event is not public any more: nothing can be paid for it.');
  const leftMs = (registration.pay_by?.getTime() ?? 0) - nowMs;
  if (leftMs <= 0) throw new Problem('conflict', 'The time to pay for this place is over: register again.');
  const expiresAtMs = nowMs + Math.min(LONGEST_PAGE_MS, Math.max(LEAST_PAGE_MS, leftMs));
  const made = await plans.checkouts.purchase(
    db,
    { accountId: caller.accountId, userId: caller.userId, trail },
    { reference: referenceOf(registration), amount: registration.price_nano, description: event.title, expiresAtMs },
    request,
  );
  // The place is held for as long as the page can be paid.
  const payBy = new Date(Math.max(registration.pay_by?.getTime() ?? 0, expiresAtMs));
  await setRegistration(db, registration.registration_id, { checkout_id: made.checkout_id, pay_by: payBy }, new Date(nowMs));
  return { registration, status: 'open', checkoutId: made.checkout_id, url: made.url, expiresAt: made.expires_at };
}
