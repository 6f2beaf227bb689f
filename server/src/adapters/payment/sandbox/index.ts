import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PaymentEvent, PaymentProvider } from '../port.ts';
import { eventOf, eventOfWebhook } from '../stripe-events.ts';
import { chargeMethods, refundMethods } from './charges.ts';
import { type Press, payInvoice, press } from './checkout.ts';
import { checkoutMethods } from './checkouts.ts';
import { customerMethods } from './customers.ts';
import { invoiceItemMethods, invoiceMethods } from './invoices.ts';
import { createSandboxPages, type SandboxPages } from './pages.ts';
import { passTime } from './passage-of-time.ts';
import { createSandboxStore } from './store.ts';
import { cancel, change, preview, release, resume, schedule, snapshot } from './subscriptions.ts';
import { type Turns, turnsOf } from './turns.ts';
import { SandboxWebhooks } from './webhooks.ts';

export interface SandboxPaymentsOptions {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** The public address of this server, asked for at every use; the pages are below `/sandbox/payments` there. */
  readonly publicUrl: () => string;
  /** Hands a webhook to where Stripe's would arrive, with its `stripe-signature`; what it throws is tried again at the next `tick`. */
  deliver(rawBody: Buffer, signature: string): Promise<void>;
}

export interface SandboxPayments {
  readonly provider: PaymentProvider;
  readonly pages: SandboxPages;
  /** Lets happen what is due (renewals, expiries, retries) and tells of what was not taken yet: once a minute, say. */
  tick(): Promise<void>;
}

/**
 * Payments without a provider outside: Stripe's semantics and events, in PostgreSQL, with pages of our own and no money.
 * The webhook secret is made once and kept with the rest.
 */
export async function createSandboxPayments({ clock, deliver, log, pool, publicUrl }: SandboxPaymentsOptions): Promise<SandboxPayments> {
  const store = createSandboxStore(pool);
  const secret = await webhookSecret(store);
  const webhooks = new SandboxWebhooks({ store, secret, clock, log, deliver });
  const tell = () => void webhooks.tell();
  const turns = turnsOf({ store, clock, pagesUrl: () => `${publicUrl()}/sandbox/payments`, tell });
  const provider: PaymentProvider = {
    kind: 'sandbox',
    livemode: false,
    ...customerMethods(turns),
    ...checkoutMethods(turns),
    ...subscriptionMethods(turns),
    ...chargeMethods(turns),
    ...refundMethods(turns),
    ...invoiceItemMethods(turns),
    ...invoiceMethods(turns),
    async *listEvents(sinceMs): AsyncGenerator<PaymentEvent> {
      for (const body of await store.eventsSince(sinceMs)) yield eventOf(JSON.parse(body));
    },
    verifyWebhook: (rawBody, signature) => eventOfWebhook({ rawBody, signature, secret, nowMs: clock.now(), livemode: false }),
    close: () => webhooks.settled(),
  };
  return {
    provider,
    pages: pagesOf(turns),
    async tick() {
      while (await turns.look(passTime)) {
        // Each in its own turn: a long absence is caught up month by month.
      }
      await webhooks.tell();
    },
  };
}

const webhookSecret = (store: ReturnType<typeof createSandboxStore>): Promise<string> =>
  store.transact(async (books) => {
    const kept = await books.find('secret', 'webhook_secret');
    const value = kept?.value ?? `whsec_${randomBytes(24).toString('hex')}`;
    if (!kept) await books.put('secret', { id: 'webhook_secret', value });
    return value;
  });

const pagesOf = ({ look, turn }: Turns): SandboxPages =>
  createSandboxPages({
    look,
    press: (id: string, button: Press) =>
      turn(async (now) => {
        const session = await now.books.find('session', id);
        return session ? press(now, session, button) : false;
      }),
    payInvoice: (id) => turn((now) => payInvoice(now, id)),
    setCancellation: (id, cancels) => turn((now) => (cancels ? cancel(now, id, 'period_end') : resume(now, id))),
  });

const subscriptionMethods = ({
  look,
  command,
}: Turns): Pick<
  PaymentProvider,
  | 'readSubscription'
  | 'listSubscriptions'
  | 'previewChange'
  | 'changeSubscription'
  | 'scheduleChange'
  | 'releaseSchedule'
  | 'cancelSubscription'
  | 'resumeSubscription'
> => ({
  readSubscription: (id) =>
    look(async ({ books }) => {
      const found = await books.find('subscription', id);
      return found && snapshot(found);
    }),
  listSubscriptions: (customerId) => look(async ({ books }) => (await books.list('subscription', customerId)).map(snapshot).reverse()),
  previewChange: (given) => look((now) => preview(now, given)),
  changeSubscription: command('changeSubscription', change),
  scheduleChange: command('scheduleChange', schedule),
  releaseSchedule: command('releaseSchedule', (now, { subscriptionId }) => release(now, subscriptionId)),
  cancelSubscription: command('cancelSubscription', (now, { at, subscriptionId }) => cancel(now, subscriptionId, at)),
  resumeSubscription: command('resumeSubscription', (now, { subscriptionId }) => resume(now, subscriptionId)),
});
