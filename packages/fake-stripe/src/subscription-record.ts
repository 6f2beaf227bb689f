import type Stripe from 'stripe';
import { type FakePrice, type FakeSubscription, type FakeSubscriptionItem, listOf } from './records.ts';
import type { World } from './world.ts';

interface Detail {
  readonly customer: string;
  readonly items: readonly { readonly price: FakePrice; readonly quantity: number }[];
  readonly metadata: Record<string, string>;
  readonly method: string | null;
  readonly period: { start: number; end: number };
}

/** What every subscription begins with. */
const AT_FIRST = {
  object: 'subscription',
  application: null,
  application_fee_percent: null,
  billing_cycle_anchor_config: null,
  billing_thresholds: null,
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  collection_method: 'charge_automatically',
  currency: 'usd',
  customer_account: null,
  days_until_due: null,
  default_source: null,
  description: null,
  ended_at: null,
  latest_invoice: null,
  livemode: false,
  managed_payments: null,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pause_collection: null,
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  schedule: null,
  status: 'incomplete',
  test_clock: null,
  transfer_data: null,
  trial_end: null,
  trial_settings: null,
  trial_start: null,
} as const satisfies Partial<FakeSubscription>;

/** Incomplete, until its first invoice is paid. */
export function newSubscription(world: World, { customer, items, metadata, method, period }: Detail): FakeSubscription {
  const id = world.id('sub');
  return {
    ...AT_FIRST,
    id,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: period.start,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    billing_schedules: [],
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    created: world.now(),
    customer,
    default_payment_method: method,
    default_tax_rates: [],
    discounts: [],
    invoice_settings: { account_tax_ids: null, custom_fields: null, description: null, footer: null, issuer: { type: 'self' } },
    items: listOf(
      `/v1/subscription_items?subscription=${id}`,
      items.map((item) => newSubscriptionItem(world, id, item, period)),
    ),
    metadata,
    payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: 'off' },
    start_date: period.start,
  };
}

export function newSubscriptionItem(
  world: World,
  subscription: string,
  { price, quantity }: { readonly price: FakePrice; readonly quantity: number },
  period: { start: number; end: number },
): FakeSubscriptionItem {
  return {
    id: world.id('si'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: world.now(),
    current_period_end: period.end,
    current_period_start: period.start,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}

/** The old name of a price, which the API still repeats. */
const planOf = (price: FakePrice): Stripe.Plan => ({
  id: price.id,
  object: 'plan',
  active: price.active,
  amount: price.unit_amount,
  amount_decimal: price.unit_amount_decimal,
  billing_scheme: 'per_unit',
  created: price.created,
  currency: price.currency,
  interval: price.recurring?.interval ?? 'month',
  interval_count: price.recurring?.interval_count ?? 1,
  livemode: false,
  metadata: price.metadata,
  meter: null,
  nickname: price.nickname,
  product: price.product,
  tiers_mode: null,
  transform_usage: null,
  trial_period_days: null,
  usage_type: 'licensed',
});
