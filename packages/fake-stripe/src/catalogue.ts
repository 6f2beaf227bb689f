import Stripe from 'stripe';
import { pick } from './customers.ts';
import { invalid, missing } from './fault.ts';
import type { Form } from './form.ts';
import type { FakePrice, FakeProduct } from './records.ts';
import type { World } from './world.ts';

export function createProduct(world: World, form: Form): FakeProduct {
  const id = form.text('id') ?? world.id('prod');
  if (world.peek('product', id)) throw invalid(`Product already exists.`, { code: 'resource_already_exists', param: 'id' });
  const now = world.now();
  const product = {
    id,
    object: 'product',
    active: form.flag('active') ?? true,
    created: now,
    default_price: null,
    description: form.clearable('description') ?? null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: form.metadata(),
    name: form.required('name'),
    package_dimensions: null,
    shippable: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    updated: now,
    url: null,
  } satisfies Stripe.Product;
  world.emit('product.created', product);
  return world.put('product', product);
}

export function updateProduct(world: World, id: string, form: Form): FakeProduct {
  const product = world.find('product', id);
  product.name = form.text('name') ?? product.name;
  product.description = pick(form.clearable('description'), product.description);
  product.active = form.flag('active') ?? product.active;
  product.metadata = form.metadata(product.metadata);
  product.updated = world.now();
  world.emit('product.updated', product);
  return product;
}

export function createPrice(world: World, form: Form): FakePrice {
  const amount = form.integer('unit_amount');
  if (amount === undefined) throw missing('unit_amount');
  const product = world.find('product', form.required('product'), 'product');
  const recurring = form.part('recurring');
  const lookupKey = form.text('lookup_key') ?? null;
  const price = {
    id: world.id('price'),
    object: 'price',
    active: form.flag('active') ?? true,
    billing_scheme: 'per_unit',
    created: world.now(),
    currency: form.required('currency').toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: claimed(world, lookupKey, form.flag('transfer_lookup_key') ?? false),
    metadata: form.metadata(),
    nickname: form.text('nickname') ?? null,
    product: product.id,
    recurring: recurring
      ? {
          interval: recurring.choice('interval', ['day', 'month', 'week', 'year']) ?? 'month',
          interval_count: recurring.integer('interval_count') ?? 1,
          meter: null,
          trial_period_days: null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: form.choice('tax_behavior', ['exclusive', 'inclusive', 'unspecified']) ?? 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: amount,
    unit_amount_decimal: Stripe.Decimal.from(String(amount)),
  } satisfies Stripe.Price;
  world.emit('price.created', price);
  return world.put('price', price);
}

export function updatePrice(world: World, id: string, form: Form): FakePrice {
  const price = world.find('price', id);
  price.active = form.flag('active') ?? price.active;
  price.nickname = pick(form.clearable('nickname'), price.nickname);
  price.metadata = form.metadata(price.metadata);
  const key = form.clearable('lookup_key');
  if (key !== undefined && key !== price.lookup_key) price.lookup_key = claimed(world, key, form.flag('transfer_lookup_key') ?? false);
  world.emit('price.updated', price);
  return price;
}

/** A lookup key names one price. */
function claimed(world: World, key: string | null, isTransferred: boolean): string | null {
  const holder = key === null ? undefined : world.all('price').find((price) => price.lookup_key === key);
  if (holder && !isTransferred) {
    throw invalid(`A price (\`${holder.id}\`) already uses that lookup key.`, { code: 'resource_already_exists', param: 'lookup_key' });
  }
  if (holder) holder.lookup_key = null;
  return key;
}
