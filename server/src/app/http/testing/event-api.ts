import { contract } from '@tallygate/contract';
import { startFakeStripe } from '@tallygate/fake-stripe';
import { createStripePayments } from '../../../adapters/payment/stripe.ts';
import {
  checkoutRoutes,
  createEvents,
  type Events,
  followPayments,
  marketingEventRoutes,
  registrationRoutes,
  siteEventRoutes,
} from '../../../community/events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { silentLog } from '../../../kernel/log.ts';
import { planRoutes } from '../../../money/plans/index.ts';
import { sellingPlans } from '../../../money/plans/testing/book.ts';
import { endpointsOf } from '../endpoint.ts';
import { openTestDatabase, signUp, startInstance } from './account-api.ts';
import { openMailbox } from './mailbox.ts';

/** An instance with everything about events, over a separate Stripe and database. @param clockOf its clock, given the Stripe's */
export async function startEventApi(clockOf: (stripe: Clock) => Clock = (stripe) => stripe) {
  const db = await openTestDatabase();
  const { pool } = db.database;
  const stripe = await startFakeStripe();
  const clock = clockOf(stripe);
  const provider = createStripePayments({ secretKey: 'sk_live_fake', webhookSecret: 'whsec_test', apiUrl: stripe.url });
  const publicUrl = () => 'https://gateway.example';
  const plans = sellingPlans({
    ...{ pool, provider, clock, log: silentLog(), publicUrl },
    onPurchase: followPayments({ clock }),
  });
  await plans.provision();
  let made: Events | undefined;
  const api = await startInstance(db.database, db.url, {
    endpointsOver: (_keys, identity) => {
      const events = createEvents({ pool, clock, identity, plans });
      made = events;
      return [
        ...endpointsOf(contract.siteEvents, siteEventRoutes({ ...events, clock, pageOf: (slug) => `${publicUrl()}/events/${slug}` })),
        ...endpointsOf(contract.registrations, registrationRoutes({ ...events, clock })),
        ...endpointsOf(contract.eventCheckouts, checkoutRoutes(events)),
        ...endpointsOf(contract.marketingEvents, marketingEventRoutes({ ...events, pool, clock })),
        ...endpointsOf(contract.plans, planRoutes({ live: plans, paying: plans }, clock)),
      ];
    },
  });
  if (!made) throw new Error('The instance has no events');
  return {
    ...{ api, pool, stripe, provider, plans, events: made },
    database: db.database,
    admin: (await signUp(api, 'admin')).auth,
    mailbox: openMailbox(api, db.database),
    close: async () => {
      await api.close();
      await provider.close();
      await stripe.close();
      await db.close();
    },
  };
}

export type EventApi = Awaited<ReturnType<typeof startEventApi>>;
