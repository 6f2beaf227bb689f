import { nanoUsdToCents, PaymentFault, type PaymentProvider } from '../port.ts';
import { lookupKeyOf, METADATA } from '../stripe-objects.ts';
import { newSandboxId } from './store.ts';
import type { Turns } from './turns.ts';

/** Prices, customers and their cards. */
export const customerMethods = ({ look, turn }: Turns): Pick<PaymentProvider, 'provision' | 'ensureCustomer' | 'readPaymentMethod'> => ({
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

  readPaymentMethod: (customerId) =>
    look(async ({ books }) => {
      const card = (await books.find('customer', customerId))?.card;
      return card == null ? undefined : { id: `pm_sandbox_${card}`, brand: 'visa', last4: '4242' };
    }),
});
