import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, pageQuery, problem, refusals, Uuid } from './conventions.ts';
import {
  PaymentWebhookResponse,
  PlanAutoTopupRequest,
  PlanAutoTopupResponse,
  PlanBalanceCheckoutRequest,
  PlanBalanceCheckoutResponse,
  PlanCheckoutRequest,
  PlanCheckoutResponse,
  PlanCheckoutState,
  PlanInvoiceListResponse,
  PlanInvoiceResponse,
  PlanPayment,
  PlanPaymentListResponse,
  PlanPaymentRefundRequest,
  PlanPortalRequest,
  PlanPortalResponse,
  PlanSpendAlertsRequest,
  PlanSpendAlertsResponse,
} from './plan-payment-records.ts';
import { CurrentPlanResponse, planQuery } from './plan-records.ts';

const c = initContract();

const tag = 'Plans';
const reads = { auth: 'bearer', scope: 'account:read', tag } as const;
const pays = { auth: 'bearer', scope: 'billing:write', tag } as const;
const paying = { 402: problem, 409: problem, ...refusals.write };
const paysOnce = { ...headersA, ...idempotencyHeader };
const InvoicePath = z.object({ invoice_id: Uuid });

/** What is paid, and what was. */
export const planPayments = c.router({
  checkout: {
    method: 'POST',
    path: '/v1/plans/checkout',
    summary: 'Get a plan',
    description:
      'Without a paid plan: a hosted page. With one: an upgrade at once, prorated and charged to the saved card; a decline is a 402. For a cheaper plan, schedule a downgrade.',
    headers: paysOnce,
    body: PlanCheckoutRequest,
    responses: { 200: PlanCheckoutResponse, ...paying },
    metadata: {
      ...pays,
      operationId: 'checkoutPlan',
      sdk: 'plans.checkout',
      tool: 'write',
      errors: { also: ['payment_declined'] },
    } as const,
  },
  balanceCheckout: {
    method: 'POST',
    path: '/v1/plans/balance-checkout',
    summary: 'Top the balance up',
    description: 'A hosted page to pay on. The balance rises when the payment provider says that it was paid.',
    headers: paysOnce,
    body: PlanBalanceCheckoutRequest,
    responses: { 200: PlanBalanceCheckoutResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'checkoutBalance', sdk: 'plans.topUp', tool: 'write', errors: { never: ['conflict'] } } as const,
  },
  getCheckout: {
    method: 'GET',
    path: '/v1/plans/checkouts/:checkout_id',
    summary: 'Get the state of a checkout',
    description: '`completed` once what was paid for is in effect.',
    headers: headersA,
    pathParams: z.object({ checkout_id: Uuid }),
    responses: { 200: PlanCheckoutState, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'getCheckout', sdk: 'plans.getCheckout' } as const,
  },
  cancel: {
    method: 'POST',
    path: '/v1/plans/cancel',
    summary: 'Cancel the plan',
    description: 'At the end of the period that is paid for; then the account is on the free plan.',
    headers: { ...headersA, ...idempotencyHeader },
    body: c.noBody(),
    responses: { 200: CurrentPlanResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'cancelPlan', sdk: 'plans.cancel' } as const,
  },
  resume: {
    method: 'POST',
    path: '/v1/plans/resume',
    summary: 'Keep a cancelled plan',
    description: 'Takes a cancellation back that has not come into effect.',
    headers: { ...headersA, ...idempotencyHeader },
    body: c.noBody(),
    responses: { 200: CurrentPlanResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'resumePlan', sdk: 'plans.resume' } as const,
  },
  portal: {
    method: 'POST',
    path: '/v1/plans/portal',
    summary: 'Link to the customer portal',
    description: 'Where the customer changes the card and sees the payment provider’s invoices.',
    headers: { ...headersA, ...idempotencyHeader },
    body: PlanPortalRequest,
    responses: { 200: PlanPortalResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'openPortal', sdk: 'plans.portal' } as const,
  },
  listInvoices: {
    method: 'GET',
    path: '/v1/plans/invoices',
    summary: 'Invoices',
    description: 'Those of the subscription, and one for each month that had charges beyond the quota.',
    headers: headersA,
    query: z.object({ ...planQuery, ...pageQuery }),
    responses: { 200: PlanInvoiceListResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'listInvoices', sdk: 'plans.invoices', tool: 'read' } as const,
  },
  getInvoice: {
    method: 'GET',
    path: '/v1/plans/invoices/:invoice_id',
    summary: 'One invoice',
    description: 'With its lines.',
    headers: headersA,
    pathParams: InvoicePath,
    responses: { 200: PlanInvoiceResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'getInvoice', sdk: 'plans.getInvoice' } as const,
  },
  printInvoice: {
    method: 'GET',
    path: '/v1/plans/invoices/:invoice_id/html',
    summary: 'One invoice, to print',
    description: 'A page without scripts that prints on one sheet.',
    headers: headersA,
    pathParams: InvoicePath,
    responses: {
      200: c.otherResponse({
        contentType: 'text/html',
        body: z.string().meta({ description: 'The page.', examples: ['<!doctype html>…'] }),
      }),
      404: problem,
      ...refusals.read,
    },
    metadata: { ...reads, operationId: 'printInvoice', sdk: 'plans.printInvoice' } as const,
  },
  listPayments: {
    method: 'GET',
    path: '/v1/plans/payments',
    summary: 'Payments',
    description: 'Everything that was paid, with what was returned of it.',
    headers: headersA,
    query: z.object({ ...planQuery, ...pageQuery }),
    responses: { 200: PlanPaymentListResponse, 404: problem, ...refusals.read },
    metadata: { ...reads, operationId: 'listPayments', sdk: 'plans.payments' } as const,
  },
  refundPayment: {
    method: 'POST',
    path: '/v1/plans/payments/:payment_id/refund',
    summary: 'Return a payment',
    description: 'For administrators: of any account’s payment, to where it came from. What it had credited to a balance is taken back.',
    headers: paysOnce,
    pathParams: z.object({ payment_id: Uuid }),
    body: PlanPaymentRefundRequest,
    responses: { 200: PlanPayment, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...pays, scope: 'admin:write', role: 'admin', operationId: 'refundPayment', sdk: 'plans.refundPayment' } as const,
  },
  getAutoTopup: {
    method: 'GET',
    path: '/v1/plans/auto-topup',
    summary: 'Automatic top-up',
    description: 'The settings and how they fare.',
    headers: headersA,
    responses: { 200: PlanAutoTopupResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getAutoTopup', sdk: 'plans.autoTopup' } as const,
  },
  setAutoTopup: {
    method: 'PUT',
    path: '/v1/plans/auto-topup',
    summary: 'Set automatic top-up',
    description:
      'Charges the saved card when the balance is below the threshold, up to the daily maximum. Plans with the feature `auto_topup` have it.',
    headers: { ...headersA, ...idempotencyHeader },
    body: PlanAutoTopupRequest,
    responses: { 200: PlanAutoTopupResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'setAutoTopup', sdk: 'plans.setAutoTopup', errors: { also: ['plan_required'] } } as const,
  },
  getSpendAlerts: {
    method: 'GET',
    path: '/v1/plans/spend-alerts',
    summary: 'Spend alerts',
    description: 'At which monthly charges everybody of the account is mailed.',
    headers: headersA,
    responses: { 200: PlanSpendAlertsResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getSpendAlerts', sdk: 'plans.spendAlerts' } as const,
  },
  setSpendAlerts: {
    method: 'PUT',
    path: '/v1/plans/spend-alerts',
    summary: 'Set spend alerts',
    description: 'Replaces the thresholds.',
    headers: { ...headersA, ...idempotencyHeader },
    body: PlanSpendAlertsRequest,
    responses: { 200: PlanSpendAlertsResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'setSpendAlerts', sdk: 'plans.setSpendAlerts' } as const,
  },
});

/** Answered below the account API, since the signature is over the bytes as they arrive. */
export const paymentWebhooks = c.router({
  stripe: {
    method: 'POST',
    path: '/v1/plans/webhooks/stripe',
    summary: 'Receive an event of the payment provider',
    description: 'For Stripe alone: events are signed with STRIPE_WEBHOOK_SECRET, and valid for five minutes.',
    headers: { 'stripe-signature': z.string().optional().meta({ description: 'Stripe’s signature of the body.' }) },
    body: z
      .looseObject({})
      .meta({ id: 'StripeEvent', description: 'An event as Stripe sends it.', examples: [{ id: 'evt_1', object: 'event' }] }),
    responses: { 200: PaymentWebhookResponse, 400: problem, 413: problem, 429: problem, 431: problem, 500: problem, 503: problem },
    metadata: { auth: 'none', tag, operationId: 'receiveStripeEvent', body: 'webhook' } as const,
  },
});
