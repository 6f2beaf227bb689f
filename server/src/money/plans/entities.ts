import { defineEntity, p } from '@mikro-orm/core';
import type { PlanInvoiceResponse, PlanPayment } from '@tallygate/contract';
import type { Month } from '../../kernel/clock.ts';
import type { PlanTerms } from './offer.ts';

export const AutoTopup = defineEntity({
  name: 'AutoTopup',
  tableName: 'auto_topups',
  properties: {
    accountId: p.uuid().primary(),
    enabled: p.boolean(),
    thresholdNano: p.bigint('bigint'),
    amountNano: p.bigint('bigint'),
    attemptId: p.uuid().nullable(),
    attemptedAt: p.datetime().nullable(),
    providerId: p.text().nullable(),
    decline: p.text().nullable(),
    attemptNano: p.bigint('bigint').nullable(),
    dailyMaximumNano: p.bigint('bigint'),
  },
});

export const Checkout = defineEntity({
  name: 'Checkout',
  tableName: 'checkouts',
  properties: {
    checkoutId: p.uuid().primary(),
    accountId: p.uuid(),
    kind: p.enum(['plan', 'balance', 'purchase']),
    sessionId: p.text().nullable(),
    planId: p.text().nullable(),
    planVersion: p.integer().nullable(),
    amountNano: p.bigint('bigint'),
    status: p.enum(['open', 'completed', 'expired']),
    url: p.text().nullable(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});

export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  properties: {
    invoiceId: p.uuid().primary(),
    accountId: p.uuid(),
    kind: p.enum(['usage', 'subscription']),
    providerId: p.text().nullable(),
    number: p.text().nullable(),
    status: p.enum(['open', 'paid', 'void', 'uncollectible']),
    period: p.text().$type<Month>(),
    lines: p.json<PlanInvoiceResponse['lines']>(),
    totalNano: p.decimal().precision(30).scale(0),
    fromBalanceNano: p.decimal().precision(30).scale(0).defaultRaw('0'),
    owedNano: p.decimal().precision(30).scale(0).defaultRaw('0'),
    dueNano: p.decimal().precision(30).scale(0),
    carriedNano: p.decimal().precision(30).scale(0).defaultRaw('0'),
    providerItemId: p.text().nullable(),
    hostedUrl: p.text().nullable(),
    issuedAt: p.datetime(),
    itemSubscriptionId: p.text().nullable(),
    billsAlone: p.boolean().defaultRaw('false'),
    billedOn: p.text().nullable(),
  },
});

export const PaymentCommand = defineEntity({
  name: 'PaymentCommand',
  tableName: 'payment_commands',
  properties: {
    commandId: p.uuid().primary(),
    kind: p.enum(['refund', 'upgrade']),
    accountId: p.uuid(),
    subject: p.text(),
    details: p.json<unknown>(),
    requestHash: p.blob().$type<Buffer>().nullable(),
    state: p.enum(['begun', 'done', 'refused']),
    refusal: p.text().nullable(),
    begunAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});

export const PaymentDispute = defineEntity({
  name: 'PaymentDispute',
  tableName: 'payment_disputes',
  properties: {
    disputeId: p.text().primary(),
    providerPaymentId: p.text(),
    amountNano: p.bigint('bigint'),
    status: p.enum(['warning', 'open', 'won', 'lost']),
  },
});

export const Payment = defineEntity({
  name: 'Payment',
  tableName: 'payments',
  properties: {
    paymentId: p.uuid().primary(),
    providerId: p.text(),
    accountId: p.uuid(),
    kind: p.enum(['balance', 'auto_topup', 'subscription', 'purchase']),
    status: p.text().$type<PlanPayment['status']>(),
    amountNano: p.bigint('bigint'),
    refundedNano: p.bigint('bigint'),
    usageNano: p.bigint('bigint').defaultRaw('0'),
    bookedNano: p.bigint('bigint').defaultRaw('0'),
    bookings: p.smallint().defaultRaw('0'),
    createdAt: p.datetime(),
  },
});

export const PlanTrial = defineEntity({
  name: 'PlanTrial',
  tableName: 'plan_trials',
  properties: {
    trialId: p.uuid().primary(),
    accountId: p.uuid(),
    planId: p.text(),
    backTo: p.text().nullable(),
    endsAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});

export const PlanVersion = defineEntity({
  name: 'PlanVersion',
  tableName: 'plan_versions',
  properties: {
    planId: p.text().primary(),
    version: p.smallint().primary(),
    terms: p.json<PlanTerms>(),
  },
});

export const ScheduledDowngrade = defineEntity({
  name: 'ScheduledDowngrade',
  tableName: 'scheduled_downgrades',
  properties: {
    downgradeId: p.uuid().primary(),
    accountId: p.uuid(),
    fromPlan: p.text(),
    toPlan: p.text(),
    effectiveAt: p.datetime(),
    basedOn: p.integer(),
    state: p.enum(['scheduled', 'applied', 'dropped', 'canceled']),
    createdAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});

export const SpendAlert = defineEntity({
  name: 'SpendAlert',
  tableName: 'spend_alerts',
  properties: {
    accountId: p.uuid().primary(),
    thresholdsNano: p.array(BigInt).columnType('bigint[]'),
  },
});

export const ReachedSpendAlert = defineEntity({
  name: 'ReachedSpendAlert',
  tableName: 'spend_alerts_reached',
  properties: {
    accountId: p.uuid().primary(),
    period: p.text().primary(),
    thresholdNano: p.bigint('bigint').primary(),
    chargedNano: p.decimal().precision(30).scale(0),
    createdAt: p.datetime(),
  },
});

export const Subscription = defineEntity({
  name: 'Subscription',
  tableName: 'subscriptions',
  properties: {
    accountId: p.uuid().primary(),
    customerId: p.text().nullable(),
    subscriptionId: p.text().nullable(),
    status: p.text().defaultRaw("'none'"),
    planId: p.text().nullable(),
    planVersion: p.integer().nullable(),
    periodStart: p.datetime().nullable(),
    periodEnd: p.datetime().nullable(),
    cancelsAtPeriodEnd: p.boolean().defaultRaw('false'),
    graceEndsAt: p.datetime().nullable(),
    changeVersion: p.integer().defaultRaw('0'),
    givenOver: p.text().nullable(),
  },
});

export const UpgradePreview = defineEntity({
  name: 'UpgradePreview',
  tableName: 'upgrade_previews',
  properties: {
    accountId: p.uuid().primary(),
    planId: p.text().primary(),
    proratedAt: p.datetime().primary(),
    changeVersion: p.integer(),
    createdAt: p.datetime(),
  },
});

export const WebhookEvent = defineEntity({
  name: 'WebhookEvent',
  tableName: 'webhook_events',
  properties: {
    eventId: p.text().primary(),
    type: p.text(),
    happenedAt: p.datetime(),
    appliedAt: p.datetime().defaultRaw('now()'),
  },
});
