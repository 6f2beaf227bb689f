import { addMonths, periodEnd } from './calendar.ts';
import { invalid, missing } from './fault.ts';
import type { Form } from './form.ts';
import type { FakePhase, FakePrice, FakeSchedule, FakeSubscription } from './records.ts';
import { end } from './subscriptions.ts';
import type { World } from './world.ts';

/** As Stripe has them where nobody named any. */
const defaultSettings = (): FakeSchedule['default_settings'] => ({
  application_fee_percent: null,
  billing_cycle_anchor: 'automatic',
  billing_thresholds: null,
  collection_method: 'charge_automatically',
  default_payment_method: null,
  description: null,
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    days_until_due: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  on_behalf_of: null,
  transfer_data: null,
});

export function createSchedule(world: World, form: Form): FakeSchedule {
  const from = form.text('from_subscription');
  if (from === undefined) throw missing('from_subscription');
  const subscription = world.find('subscription', from, 'from_subscription');
  if (subscription.schedule !== null) {
    throw invalid(`You cannot migrate a subscription that is already attached to a schedule: \`${subscription.schedule}\``);
  }
  if (subscription.status === 'canceled') throw invalid('You cannot migrate a subscription that is canceled.');
  const first = subscription.items.data[0];
  if (!first) throw missing('items');
  const [start, finish] = [first.current_period_start, first.current_period_end];
  const items = subscription.items.data.map(({ price, quantity }) => ({ price, quantity: quantity ?? 1 }));
  const schedule: FakeSchedule = {
    id: world.id('sub_sched'),
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    canceled_at: null,
    completed_at: null,
    created: world.now(),
    current_phase: { start_date: start, end_date: finish },
    customer: subscription.customer,
    customer_account: null,
    default_settings: defaultSettings(),
    // A subscription that ends with its period still does so.
    end_behavior: subscription.cancel_at_period_end ? 'cancel' : 'release',
    livemode: false,
    metadata: form.metadata(),
    pause_schedules: [],
    phases: [newPhase({ start, end: finish, items, proration: 'create_prorations' })],
    released_at: null,
    released_subscription: null,
    status: 'active',
    subscription: subscription.id,
    test_clock: null,
  };
  subscription.schedule = schedule.id;
  world.put('subscription_schedule', schedule);
  world.emit('subscription_schedule.created', schedule);
  world.emit('customer.subscription.updated', subscription, { schedule: null });
  return schedule;
}

export function updateSchedule(world: World, id: string, form: Form): FakeSchedule {
  const schedule = active(world, id);
  schedule.end_behavior = form.choice('end_behavior', ['release', 'cancel']) ?? schedule.end_behavior;
  schedule.metadata = form.metadata(schedule.metadata ?? {});
  form.text('proration_behavior');
  if (form.has('phases')) schedule.phases = phasesOf(world, schedule, form.parts('phases'));
  world.emit('subscription_schedule.updated', schedule);
  return schedule;
}

export function releaseSchedule(world: World, id: string, form?: Form): FakeSchedule {
  const schedule = active(world, id);
  form?.flag('preserve_cancel_date');
  const subscription = world.find('subscription', schedule.subscription ?? '');
  schedule.status = 'released';
  schedule.released_at = world.now();
  schedule.released_subscription = schedule.subscription;
  schedule.subscription = null;
  schedule.current_phase = null;
  subscription.schedule = null;
  world.emit('subscription_schedule.released', schedule);
  world.emit('customer.subscription.updated', subscription, { schedule: id });
  return schedule;
}

export function cancelSchedule(world: World, id: string, form: Form): FakeSchedule {
  const schedule = active(world, id);
  form.flag('invoice_now');
  form.flag('prorate');
  end(world, world.find('subscription', schedule.subscription ?? ''));
  return schedule;
}

/** What the schedule makes of a subscription whose period ends: other prices, nothing, or its end. */
export function phaseAfter(world: World, subscription: FakeSubscription, at: number): FakePhase | 'ends' | undefined {
  const schedule = world.peek('subscription_schedule', subscription.schedule);
  const current = schedule?.phases.find(({ end_date: finish }) => finish > at);
  if (!schedule) return undefined;
  if (current?.start_date === at) {
    schedule.current_phase = { start_date: current.start_date, end_date: current.end_date };
    world.emit('subscription_schedule.updated', schedule);
    return current;
  }
  if (current) return undefined;
  if (schedule.end_behavior === 'cancel') {
    schedule.status = 'completed';
    schedule.completed_at = at;
    subscription.schedule = null;
    world.emit('subscription_schedule.completed', schedule);
    return 'ends';
  }
  releaseSchedule(world, schedule.id);
  return undefined;
}

export function pricesOf(world: World, phase: FakePhase): { price: FakePrice; quantity: number }[] {
  return phase.items.map(({ price, quantity = 1 }) => ({
    price: world.find('price', typeof price === 'string' ? price : price.id),
    quantity,
  }));
}

function active(world: World, id: string): FakeSchedule {
  const schedule = world.find('subscription_schedule', id);
  if (schedule.status !== 'active') {
    throw invalid(`You cannot update a subscription schedule that is currently in the \`${schedule.status}\` status.`);
  }
  return schedule;
}

function phasesOf(world: World, schedule: FakeSchedule, forms: readonly Form[]): FakePhase[] {
  const phases: FakePhase[] = [];
  for (const form of forms) {
    const items = form.parts('items').map((item) => ({
      price: world.find('price', item.required('price'), 'phases[items][price]'),
      quantity: item.integer('quantity') ?? 1,
    }));
    const first = items[0];
    if (!first) throw missing('phases[items]');
    const start = form.integer('start_date') ?? phases.at(-1)?.end_date;
    if (start === undefined) throw missing(form.name('start_date'));
    const duration = form.part('duration');
    const months = (duration?.integer('interval_count') ?? 1) * (duration?.choice('interval', ['month', 'year']) === 'year' ? 12 : 1);
    const finish = form.integer('end_date') ?? (duration ? addMonths(start, months, start) : periodEnd(start, start, first.price));
    if (finish <= start) throw invalid('The phase must end after it starts.', { param: form.name('end_date') });
    const proration = form.choice('proration_behavior', ['always_invoice', 'create_prorations', 'none']) ?? 'create_prorations';
    phases.push(newPhase({ start, end: finish, items, proration, metadata: form.metadata() }));
  }
  const current = schedule.phases[0];
  if (phases[0]?.start_date !== current?.start_date) {
    throw invalid('You can not modify the start date of the current phase.', { param: 'phases[0][start_date]' });
  }
  return phases;
}

interface PhaseDetail {
  readonly start: number;
  readonly end: number;
  readonly items: readonly { readonly price: FakePrice; readonly quantity: number }[];
  readonly proration: string;
  readonly metadata?: Record<string, string>;
}

const newPhase = ({ start, end: finish, items, proration, metadata = {} }: PhaseDetail): FakePhase => ({
  add_invoice_items: [],
  application_fee_percent: null,
  billing_cycle_anchor: null,
  billing_thresholds: null,
  collection_method: null,
  currency: 'usd',
  default_payment_method: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  end_date: finish,
  invoice_settings: null,
  items: items.map(({ price, quantity }) => ({
    billing_thresholds: null,
    discounts: [],
    metadata: {},
    plan: price.id,
    price: price.id,
    quantity,
    tax_rates: [],
  })),
  metadata,
  on_behalf_of: null,
  proration_behavior: proration,
  start_date: start,
  transfer_data: null,
  trial_end: null,
});
