import type { contract } from '@tallygate/contract';
import type { Call, Handlers, Principal } from '../../http/index.ts';
import { knownPlan } from './account-routes.ts';
import { paymentAmount } from './payment-amount.ts';
import { requestHashOf } from './payment-commands.ts';
import { asking, type Plans } from './plans.ts';
import { authorOf, trailOf } from './tell.ts';
import { checkoutStateToWire, checkoutToWire } from './wire.ts';

/** What is paid on a page of the payment provider. */
export const checkoutRoutes = ({
  book,
  checkouts,
  livemode,
}: Plans): Pick<Handlers<typeof contract.plans>, 'checkout' | 'balanceCheckout' | 'getCheckout' | 'portal'> => ({
  checkout: async ({ principal, body, headers, ...call }) => {
    const { plan_id: planId, prorated_at: proratedAt } = body;
    const wish = {
      successUrl: body.success_url,
      cancelUrl: body.cancel_url,
      proratedAtMs: proratedAt === undefined ? undefined : Date.parse(proratedAt),
      requestHash: requestHashOf(authorOf(principal, call), headers['idempotency-key'], 'upgrade', planId, proratedAt ?? null),
    };
    const row = await asking(checkouts.plan(payerOf(principal, call), book.of(knownPlan(book, planId)), wish));
    return { status: 200, body: { ...checkoutToWire(row, livemode), plan_id: planId } };
  },
  balanceCheckout: async ({ principal, body, ...call }) => {
    const wish = { amount: paymentAmount(body.amount_usd), saveCard: body.save_card };
    const row = await asking(
      checkouts.balance(payerOf(principal, call), wish, { successUrl: body.success_url, cancelUrl: body.cancel_url }),
    );
    return { status: 200, body: checkoutToWire(row, livemode) };
  },
  getCheckout: async ({ principal, params }) => ({
    status: 200,
    body: checkoutStateToWire(await checkouts.read(principal.accountId, params.checkout_id), livemode),
  }),
  portal: async ({ principal, body }) => ({ status: 200, body: { url: await asking(checkouts.portal(principal, body.return_url)) } }),
});

const payerOf = (principal: Principal, call: Pick<Call, 'peer' | 'requestId'>) => ({
  accountId: principal.accountId,
  userId: principal.userId,
  trail: trailOf(principal, call),
});
