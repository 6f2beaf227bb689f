import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import Stripe from 'stripe';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { nanoUsdToCents, type PaymentEvent, PaymentFault, type PaymentProvider } from '../port.ts';
import { eventOf, eventOfWebhook } from '../stripe-events.ts';
import {
  invoiceOf,
  lookupKeyOf,
  METADATA,
  paymentOf,
  refundOf,
  StripeInvoice,
  StripePayment,
  StripeRefund,
  StripeSession,
  sessionOf,
} from '../stripe-objects.ts';
import { behaviourOf, collect, draw, line, type Payment, pay, type Turn } from './billing.ts';
import { type Press, payInvoice, press } from './checkout.ts';
import type { DocumentOf } from './documents.ts';
import { createSandboxPages, type SandboxPages } from './pages.ts';
import { expireSession, passTime } from './passage-of-time.ts';
import { createSandboxStore, newSandboxId, type WaitingEvent } from './store.ts';
import { cancel, change, preview, priceOf, release, resume, schedule, snapshot } from './subscriptions.ts';

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

const DAY_MS = 86_400_000;
const PORTAL_SECONDS = 3600;

/**
 * Payments without a provider outside: Stripe's semantics and events, in PostgreSQL, with pages of our own and no money.
 * The webhook secret is made once and kept with the rest.
 */
export async function createSandboxPayments({ clock, deliver, log, pool, publicUrl }: SandboxPaymentsOptions): Promise<SandboxPayments> {
  const store = createSandboxStore(pool);
  const pagesUrl = (): string => `${publicUrl()}/sandbox/payments`;
  const secret = await store.transact(async (books) => {
    const kept = await books.find('secret', 'webhook_secret');
    const value = kept?.value ?? `whsec_${randomBytes(24).toString('hex')}`;
    if (!kept) await books.put('secret', { id: 'webhook_secret', value });
    return value;
  });
  const seconds = (): number => Math.floor(clock.now() / 1000);
  let telling: Promise<void> = Promise.resolve();

  const attempt = async ({ body, id }: WaitingEvent): Promise<void> => {
    const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds() });
    try {
      await deliver(Buffer.from(body), signature);
    } catch (failure) {
      // The others are told all the same, as Stripe does.
      log.warn({ err: failure, event: id }, 'a webhook of the sandbox was not taken');
      return;
    }
    await store.markDelivered(id);
  };

  /** Nobody waits for it: an event that is not taken now is told at the next tick. */
  const tell = (): Promise<void> => {
    telling = telling
      .then(async () => {
        for (const event of await store.waitingEvents()) await attempt(event);
      })
      .catch((failure: unknown) => log.warn({ err: failure }, 'the webhooks of the sandbox could not be read'));
    return telling;
  };

  const look = <T>(work: (turn: Turn) => Promise<T>): Promise<T> =>
    store.transact((books) => work({ books, now: seconds(), pagesUrl: pagesUrl() }));
  const turn = async <T>(work: (turn: Turn) => Promise<T>): Promise<T> => {
    const result = await look(work);
    void tell();
    return result;
  };
  /** A command, once per key. The name is part of what is compared: two commands may look alike. */
  const command = <C extends { readonly idempotencyKey: string }, T>(name: string, work: (turn: Turn, command: C) => Promise<T>) =>
    ((given: C) => turn((now) => now.books.once(given.idempotencyKey, { name, ...given }, () => work(now, given)))) as (
      given: C,
    ) => Promise<T>;

  const provider: PaymentProvider = {
    kind: 'sandbox',
    livemode: false,

    provision: (prices) =>
      turn(async ({ books }) => {
        for (const listed of prices) {
          const [id, cents] = [lookupKeyOf(listed), nanoUsdToCents(listed.monthlyPrice)];
          const there = await books.find('price', id);
          if (there && there.unit_amount !== cents) {
            throw new PaymentFault('invalid', `The price ${id} is ${there.unit_amount} cents: give the plan a new version`);
          }
          const metadata = { [METADATA.plan]: listed.planId, [METADATA.version]: String(listed.version) };
          await books.put('price', { id, unit_amount: cents, name: listed.name, metadata });
        }
      }),

    ensureCustomer: ({ accountId, email }) =>
      turn(async ({ books }) => {
        const there = (await books.list('customer')).find(({ account }) => account === accountId);
        const customer = there ?? { id: newSandboxId('cus'), account: accountId, card: null, balance: 0, invoices: 0 };
        await books.put('customer', { ...customer, email });
        return customer.id;
      }),

    createCheckout: command('createCheckout', async ({ books, now }, order) => {
      const price = order.mode === 'subscription' ? await priceOf(books, order.plan) : undefined;
      const id = newSandboxId('cs');
      const session: DocumentOf<'session'> = {
        id,
        mode: order.mode,
        status: 'open',
        payment_status: 'unpaid',
        url: `${pagesUrl()}/pay/${id}`,
        expires_at: order.expiresAtMs === undefined ? now + DAY_MS / 1000 : Math.floor(order.expiresAtMs / 1000),
        client_reference_id: order.accountId,
        metadata: { [METADATA.account]: order.accountId, [METADATA.reference]: order.reference },
        customer: order.customerId,
        amount_total: order.mode === 'payment' ? nanoUsdToCents(order.amount) : (price?.unit_amount ?? 0),
        subscription: null,
        payment_intent: null,
        description: order.mode === 'payment' ? order.description : (price?.name ?? ''),
        price: price?.id ?? null,
        save_card: order.mode === 'payment' && order.saveCard,
        success_url: order.successUrl.replaceAll('{CHECKOUT_SESSION_ID}', id),
        cancel_url: order.cancelUrl,
      };
      await books.put('session', session);
      return sessionOf(StripeSession.parse(session));
    }),

    readCheckout: (id) => look(async ({ books }) => readSession(await books.find('session', id))),

    expireCheckout: (id) =>
      turn(async (now) => {
        await expireSession(now, id);
        return readSession(await now.books.find('session', id));
      }),

    createPortalLink: ({ customerId, returnUrl }) =>
      turn(async ({ books, now }) => {
        if (!(await books.find('customer', customerId))) throw new PaymentFault('not_found', `There is no customer ${customerId}`);
        const id = newSandboxId('bps');
        await books.put('portal', { id, customer: customerId, return_url: returnUrl, expires_at: now + PORTAL_SECONDS });
        return `${pagesUrl()}/billing/${id}`;
      }),

    readPaymentMethod: (customerId) =>
      look(async ({ books }) => {
        const card = (await books.find('customer', customerId))?.card;
        return card == null ? undefined : { id: `pm_sandbox_${card}`, brand: 'visa', last4: '4242' };
      }),

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

    chargeOffSession: command('chargeOffSession', async (now, { accountId, amount, customerId, reference }) => {
      const customer = await now.books.find('customer', customerId);
      if (!customer) throw new PaymentFault('not_found', `There is no customer ${customerId}`);
      if (customer.card === null) {
        return { charged: false, decline: { reason: 'no_payment_method', message: 'No card is saved.', paymentId: undefined } };
      }
      const metadata = { [METADATA.account]: accountId, [METADATA.reference]: reference };
      const behaviour = await behaviourOf(now.books, customerId);
      const payment = readPayment(
        await pay(now, { customer: customerId, amount: nanoUsdToCents(amount), metadata, invoice: null, behaviour }),
      );
      return payment.decline ? { charged: false, decline: payment.decline } : { charged: true, payment };
    }),

    readPayment: (id) =>
      look(async ({ books }) => {
        const found = await books.find('payment', id);
        return found && readPayment(found);
      }),

    findPayment: ({ customerId, reference }) =>
      look(async ({ books }) => {
        const found = (await books.list('payment', customerId)).find(({ metadata }) => metadata[METADATA.reference] === reference);
        return found && readPayment(found);
      }),

    findRefund: (paymentId, reference) =>
      look(async ({ books }) => {
        const found = (await books.list('refund')).find(
          (refund) => refund.payment_intent === paymentId && refund.metadata[METADATA.reference] === reference,
        );
        return found && refundOf(StripeRefund.parse(found));
      }),

    refund: command('refund', async ({ books, now }, { amount, paymentId, reference }) => {
      const cents = amount === undefined ? undefined : nanoUsdToCents(amount);
      const payment = await books.find('payment', paymentId);
      if (!payment) throw new PaymentFault('not_found', `There is no payment ${paymentId}`);
      if (payment.status !== 'succeeded') return { refunded: false, reason: 'not_paid', message: 'This payment was never made.' };
      const left = payment.amount - payment.latest_charge.amount_refunded;
      if (left === 0 || (cents ?? left) > left)
        return { refunded: false, reason: 'exceeds_payment', message: `Only ${left} cents are left.` };
      const metadata = { [METADATA.reference]: reference };
      const refund: DocumentOf<'refund'> = {
        id: newSandboxId('re'),
        payment_intent: paymentId,
        amount: cents ?? left,
        status: 'succeeded',
        metadata,
        created: now,
      };
      payment.latest_charge.amount_refunded += refund.amount;
      await books.put('payment', payment);
      await books.put('refund', refund);
      await books.emit('refund.created', refund, now);
      return { refunded: true, refund: refundOf(StripeRefund.parse(refund)) };
    }),

    addInvoiceItem: command('addInvoiceItem', async ({ books }, item) => {
      const id = newSandboxId('ii');
      await books.put('invoice_item', {
        id,
        customer: item.customerId,
        subscription: item.subscriptionId,
        amount: nanoUsdToCents(item.amount),
        description: item.description,
        period: { start: Math.floor(item.periodStartMs / 1000), end: Math.floor(item.periodEndMs / 1000) },
        metadata: { [METADATA.reference]: item.reference },
        parent: { subscription_item_details: { proration: false } },
        invoice: null,
      });
      return { id, amount: item.amount };
    }),

    withdrawInvoiceItem: (id) =>
      turn(async ({ books }) => {
        const item = await books.find('invoice_item', id);
        if (item?.invoice === null) await books.remove('invoice_item', id);
        return item?.invoice ?? undefined;
      }),

    issueInvoice: (order) =>
      turn(async (now) => {
        const { amount, customerId, description, periodEndMs, periodStartMs, reference } = order;
        const metadata = { [METADATA.reference]: reference };
        const there = (await now.books.list('invoice', customerId)).find((one) => one.metadata[METADATA.reference] === reference);
        if (there) return invoiceOf(StripeInvoice.parse(there));
        const period = { start: Math.floor(periodStartMs / 1000), end: Math.floor(periodEndMs / 1000) };
        const lines = [{ ...line(nanoUsdToCents(amount), description, period), metadata }];
        const drawn = await draw(now, customerId, { reason: 'manual', lines, parent: null, metadata });
        const { card } = (await now.books.find('customer', customerId)) ?? { card: null };
        const made = card === null ? drawn : await collect(now, drawn, await behaviourOf(now.books, customerId));
        return invoiceOf(StripeInvoice.parse(made));
      }),

    readInvoice: (id) =>
      look(async ({ books }) => {
        const found = await books.find('invoice', id);
        return found && invoiceOf(StripeInvoice.parse(found));
      }),
    listInvoices: (customerId, { limit = 24 } = {}) =>
      look(async ({ books }) => {
        const all = await books.list('invoice', customerId);
        return all
          .reverse()
          .slice(0, limit)
          .map((one) => invoiceOf(StripeInvoice.parse(one)));
      }),

    async *listEvents(sinceMs): AsyncGenerator<PaymentEvent> {
      for (const body of await store.eventsSince(sinceMs)) yield eventOf(JSON.parse(body));
    },
    verifyWebhook: (rawBody, signature) => eventOfWebhook({ rawBody, signature, secret, nowMs: clock.now() }),
    close: () => telling,
  };

  return {
    provider,
    pages: createSandboxPages({
      look,
      press: (id: string, button: Press) =>
        turn(async (now) => {
          const session = await now.books.find('session', id);
          return session ? press(now, session, button) : false;
        }),
      payInvoice: (id) => turn((now) => payInvoice(now, id)),
      setCancellation: (id, cancels) => turn((now) => (cancels ? cancel(now, id, 'period_end') : resume(now, id))),
    }),
    async tick() {
      while (await look(passTime)) {
        // Each in a turn of its own: a long absence is caught up month by month.
      }
      await tell();
    },
  };
}

const readSession = (session: DocumentOf<'session'> | undefined) => session && sessionOf(StripeSession.parse(session));
const readPayment = (payment: Payment) => paymentOf(StripePayment.parse(payment), payment.invoice ?? undefined);
