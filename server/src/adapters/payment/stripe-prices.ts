import type Stripe from 'stripe';
import { type ListedPrice, nanoUsdToCents, PaymentFault, type PlanRef } from './port.ts';
import { orMissing } from './stripe-faults.ts';
import { lookupKeyOf, METADATA } from './stripe-objects.ts';

/** The plans' products and prices at Stripe, each found by a name that follows from the plan. */
export function createStripePrices(stripe: Stripe) {
  const idByKey = new Map<string, string>();

  const find = async (plan: PlanRef): Promise<Stripe.Price | undefined> => {
    const found = await stripe.prices.list({ lookup_keys: [lookupKeyOf(plan)], limit: 1 });
    return found.data[0];
  };

  const ensureProduct = async ({ name, planId }: ListedPrice): Promise<string> => {
    const id = `tallygate_${planId}`;
    const product = await orMissing(stripe.products.retrieve(id));
    if (!product) await stripe.products.create({ id, name, metadata: { [METADATA.plan]: planId } }, { idempotencyKey: `product:${id}` });
    else if (product.name !== name) await stripe.products.update(id, { name });
    return id;
  };

  const ensurePrice = async (listed: ListedPrice): Promise<string> => {
    const cents = nanoUsdToCents(listed.monthlyPrice);
    const key = lookupKeyOf(listed);
    const there = await find(listed);
    // A customer was promised the price of the version: a new price is a new version.
    if (there && there.unit_amount !== cents) {
      throw new PaymentFault(
        'invalid',
        `The price ${key} is ${there.unit_amount} cents at Stripe and ${cents} here: give the plan a new version`,
      );
    }
    if (there) return there.id;
    const price = await stripe.prices.create(
      {
        product: await ensureProduct(listed),
        currency: 'usd',
        unit_amount: cents,
        recurring: { interval: 'month' },
        lookup_key: key,
        nickname: key,
        metadata: { [METADATA.plan]: listed.planId, [METADATA.version]: String(listed.version) },
      },
      // Two gateways that start at once make one price.
      { idempotencyKey: `price:${key}:${cents}` },
    );
    return price.id;
  };

  return {
    async provision(prices: readonly ListedPrice[]): Promise<void> {
      for (const listed of prices) idByKey.set(lookupKeyOf(listed), await ensurePrice(listed));
    },

    /** @throws PaymentFault when it was never provisioned */
    async idOf(plan: PlanRef): Promise<string> {
      const key = lookupKeyOf(plan);
      const known = idByKey.get(key) ?? (await find(plan))?.id;
      if (known === undefined) throw new PaymentFault('not_found', `There is no price ${key} at Stripe`);
      idByKey.set(key, known);
      return known;
    },
  };
}

export type StripePrices = ReturnType<typeof createStripePrices>;
