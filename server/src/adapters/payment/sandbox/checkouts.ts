import { nanoUsdToCents, PaymentFault, type PaymentProvider } from '../port.ts';
import { METADATA, StripeSession, sessionOf } from '../stripe-objects.ts';
import type { DocumentOf } from './documents.ts';
import { expireSession } from './passage-of-time.ts';
import { newSandboxId } from './store.ts';
import { priceOf } from './subscriptions.ts';
import type { Turns } from './turns.ts';

const DAY_SECONDS = 86_400;
const PORTAL_SECONDS = 3600;

/** Pages to pay on. */
export const checkoutMethods = ({
  look,
  turn,
  command,
}: Turns): Pick<PaymentProvider, 'createCheckout' | 'readCheckout' | 'expireCheckout' | 'createPortalLink'> => ({
  createCheckout: command('createCheckout', async ({ books, now, pagesUrl }, order) => {
    const price = order.mode === 'subscription' ? await priceOf(books, order.plan) : undefined;
    const id = newSandboxId('cs');
    const session: DocumentOf<'session'> = {
      id,
      mode: order.mode,
      status: 'open',
      payment_status: 'unpaid',
      url: `${pagesUrl}/pay/${id}`,
      expires_at: order.expiresAtMs === undefined ? now + DAY_SECONDS : Math.floor(order.expiresAtMs / 1000),
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
    turn(async ({ books, now, pagesUrl }) => {
      if (!(await books.find('customer', customerId))) throw new PaymentFault('not_found', `There is no customer ${customerId}`);
      const id = newSandboxId('bps');
      await books.put('portal', { id, customer: customerId, return_url: returnUrl, expires_at: now + PORTAL_SECONDS });
      return `${pagesUrl}/billing/${id}`;
    }),
});

const readSession = (session: DocumentOf<'session'> | undefined) => session && sessionOf(StripeSession.parse(session));
