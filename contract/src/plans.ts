import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, headersS, idempotencyHeader, problem, refusals } from './conventions.ts';
import {
  PlanDowngradePreviewRequest,
  PlanDowngradePreviewResponse,
  PlanDowngradeScheduleRequest,
  PlanUpgradePreviewRequest,
  PlanUpgradePreviewResponse,
} from './plan-change-records.ts';
import { planPayments } from './plan-payments.ts';
import {
  CurrentPlanResponse,
  PlanBillingSummaryResponse,
  PlanConfigResponse,
  PlanDowngradeScheduleResponse,
  PlanEntitlementMatrixResponse,
  PlanEntitlementsResponse,
  PlanOverageEstimateResponse,
  PlanScheduledDowngradeApplyRequest,
  PlanScheduledDowngradeApplyResponse,
  PlanUsageQuotaResponse,
} from './plan-records.ts';

export * from './plan-change-records.ts';
export * from './plan-payment-records.ts';
export { paymentWebhooks } from './plan-payments.ts';
export * from './plan-records.ts';

const c = initContract();

const tag = 'Plans';
const reads = { auth: 'bearer', scope: 'account:read', tag } as const;
const pays = { auth: 'bearer', scope: 'billing:write', tag } as const;
const paysOnce = { ...headersA, ...idempotencyHeader };

export const plans = c.router({
  config: {
    method: 'GET',
    path: '/v1/plans/config',
    summary: 'Plans',
    description: 'Every plan as it is sold now, cheapest first.',
    responses: { 200: z.array(PlanConfigResponse), ...refusals.openRead },
    metadata: { auth: 'none', tag, operationId: 'listPlans', sdk: 'plans.list', tool: 'read' } as const,
  },
  current: {
    method: 'GET',
    path: '/v1/plans/current',
    summary: 'Plan of the account',
    description: 'The plan as it was sold to this account, its subscription, and what is scheduled.',
    headers: headersA,
    responses: { 200: CurrentPlanResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getCurrentPlan', sdk: 'plans.current', tool: 'read' } as const,
  },
  entitlements: {
    method: 'GET',
    path: '/v1/plans/entitlements',
    summary: 'What the plan entitles to',
    description: 'What admission goes by. Changes count within a second.',
    headers: headersA,
    responses: { 200: PlanEntitlementsResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getEntitlements', sdk: 'plans.entitlements', tool: 'read' } as const,
  },
  matrix: {
    method: 'GET',
    path: '/v1/plans/entitlements/matrix',
    summary: 'Compare plans',
    description: 'A row per entitlement, a value per plan.',
    headers: headersA,
    responses: { 200: PlanEntitlementMatrixResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getEntitlementMatrix', sdk: 'plans.compare' } as const,
  },
  usage: {
    method: 'GET',
    path: '/v1/plans/usage',
    summary: 'Use of the quota',
    description: 'This month’s live usage against what the plan includes.',
    headers: headersA,
    responses: { 200: PlanUsageQuotaResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getPlanUsage', sdk: 'plans.usage', tool: 'read' } as const,
  },
  billingSummary: {
    method: 'GET',
    path: '/v1/plans/billing-summary',
    summary: 'Billing at a glance',
    description: 'Balance, charges beyond the quota, what is due next, and whether a payment is late.',
    headers: headersA,
    responses: { 200: PlanBillingSummaryResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getBillingSummary', sdk: 'plans.billing', tool: 'read' } as const,
  },
  upgradePreview: {
    method: 'POST',
    path: '/v1/plans/upgrade-preview',
    summary: 'What an upgrade would cost',
    description: 'Old, new, difference and date. Changes nothing.',
    headers: headersA,
    body: PlanUpgradePreviewRequest,
    responses: { 200: PlanUpgradePreviewResponse, 409: problem, ...refusals.write },
    metadata: {
      ...reads,
      operationId: 'previewUpgrade',
      sdk: 'plans.previewUpgrade(plan_id)',
      tool: 'read',
      errors: { also: ['payments_unavailable'] },
    } as const,
  },
  downgradePreview: {
    method: 'POST',
    path: '/v1/plans/downgrade-preview',
    summary: 'What a downgrade would take away',
    description: 'Old, new, difference and date, and where this month’s usage is above the smaller quota. Changes nothing.',
    headers: headersA,
    body: PlanDowngradePreviewRequest,
    responses: { 200: PlanDowngradePreviewResponse, 409: problem, ...refusals.write },
    metadata: { ...reads, operationId: 'previewDowngrade', sdk: 'plans.previewDowngrade(plan_id)', tool: 'read' } as const,
  },
  scheduleDowngrade: {
    method: 'POST',
    path: '/v1/plans/downgrade-schedule',
    summary: 'Schedule a downgrade',
    description: 'At the end of the paid period. A later change of plan cancels it; it replaces an earlier one.',
    headers: paysOnce,
    body: PlanDowngradeScheduleRequest,
    responses: { 200: PlanDowngradeScheduleResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'scheduleDowngrade', sdk: 'plans.scheduleDowngrade(plan_id)', tool: 'write' } as const,
  },
  cancelDowngrade: {
    method: 'DELETE',
    path: '/v1/plans/downgrade-schedule',
    summary: 'Cancel a scheduled downgrade',
    description: 'The plan stays as it is. Without effect where nothing is scheduled.',
    headers: { ...headersA, ...idempotencyHeader },
    responses: { 200: CurrentPlanResponse, 409: problem, ...refusals.write },
    metadata: { ...pays, operationId: 'cancelDowngrade', sdk: 'plans.cancelDowngrade', tool: 'write' } as const,
  },
  applyDowngrades: {
    method: 'POST',
    path: '/v1/plans/internal/apply-scheduled-downgrades',
    summary: 'Apply the downgrades that are due',
    description:
      'Runs by itself every minute; asking again changes nothing. A downgrade that was scheduled before a newer change of plan is dropped.',
    headers: headersS,
    body: PlanScheduledDowngradeApplyRequest,
    responses: { 200: PlanScheduledDowngradeApplyResponse, ...refusals.write },
    metadata: { auth: 'internal', tag, operationId: 'applyScheduledDowngrades', errors: { also: ['payments_unavailable'] } } as const,
  },
  overageEstimate: {
    method: 'GET',
    path: '/v1/plans/overage-estimate',
    summary: 'Charges beyond the quota',
    description: 'The charges of this month, and the projected total.',
    headers: headersA,
    responses: { 200: PlanOverageEstimateResponse, ...refusals.read },
    metadata: { ...reads, operationId: 'getOverageEstimate', sdk: 'plans.overage', tool: 'read' } as const,
  },
  ...planPayments,
});
