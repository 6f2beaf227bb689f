import type Stripe from 'stripe';
import { invalid, missing } from './fault.ts';
import type { Form } from './form.ts';
import type { FakeCharge, FakeDispute, FakeRefund } from './records.ts';
import type { World } from './world.ts';

export function createRefund(world: World, form: Form): FakeRefund {
  const charge = chargeNamed(world, form);
  const left = charge.amount - charge.amount_refunded;
  const amount = form.integer('amount') ?? left;
  if (!charge.paid) throw invalid(`Charge ${charge.id} has not been paid.`, { code: 'charge_not_refundable' });
  if (charge.disputed) throw invalid(`Charge ${charge.id} has been charged back; cannot issue a refund.`, { code: 'charge_disputed' });
  if (left === 0) throw invalid(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  if (amount < 1) throw invalid('This value must be greater than or equal to 1.', { code: 'parameter_invalid_integer', param: 'amount' });
  if (amount > left) {
    throw invalid(`Refund amount (${dollars(amount)}) is greater than unrefunded amount on charge (${dollars(left)})`, {
      code: 'refund_amount_exceeds_unrefunded_amount',
      param: 'amount',
    });
  }
  const refund = {
    id: world.id('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    customer: charge.customer,
    customer_account: null,
    metadata: form.metadata(),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: form.choice('reason', ['duplicate', 'fraudulent', 'requested_by_customer']) ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  } satisfies Stripe.Refund;
  world.put('refund', refund);
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  world.emit('refund.created', refund);
  world.emit('charge.refunded', charge, { amount_refunded: charge.amount_refunded - amount });
  return refund;
}

/** A customer's bank takes the whole payment back for the time being. */
export function openDispute(world: World, form: Form): FakeDispute {
  const charge = chargeNamed(world, form);
  const dispute = {
    id: world.id('du'),
    object: 'dispute',
    amount: charge.amount - charge.amount_refunded,
    balance_transactions: [],
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: NO_EVIDENCE,
    evidence_details: {
      due_by: world.now() + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: 'manual',
    is_charge_refundable: false,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: form.text('reason') ?? 'fraudulent',
    status: 'needs_response',
  } satisfies Stripe.Dispute;
  charge.disputed = true;
  world.put('dispute', dispute);
  world.emit('charge.dispute.created', dispute);
  world.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

export function closeDispute(world: World, id: string, outcome: 'won' | 'lost'): FakeDispute {
  const dispute = world.find('dispute', id);
  if (dispute.status === 'won' || dispute.status === 'lost') throw invalid(`This dispute is already closed.`, { code: 'dispute_closed' });
  dispute.status = outcome;
  if (outcome === 'won') {
    world.find('charge', dispute.charge).disputed = false;
    world.emit('charge.dispute.funds_reinstated', dispute);
  }
  world.emit('charge.dispute.closed', dispute);
  return dispute;
}

function chargeNamed(world: World, form: Form): FakeCharge {
  const charge = form.text('charge');
  const intent = form.text('payment_intent');
  if (charge !== undefined) return world.find('charge', charge, 'charge');
  if (intent === undefined) throw missing('payment_intent');
  const latest = world.find('payment_intent', intent, 'payment_intent').latest_charge;
  if (latest === null) {
    throw invalid(`This PaymentIntent (${intent}) does not have a successful charge to refund.`, { param: 'payment_intent' });
  }
  return world.find('charge', latest);
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

const NO_EVIDENCE: Stripe.Dispute.Evidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};
