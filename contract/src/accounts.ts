import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, idempotencyHeader, page, pageQuery, problem, refusals, Timestamp, Uuid } from './conventions.ts';
import { Email } from './identity.ts';
import { PlanId } from './plan-records.ts';

const c = initContract();

const PlanVersion = z.int().min(1).max(32_767);
const GivenPlan = z
  .object({ plan_id: PlanId, version: PlanVersion.nullable().meta({ description: 'Null: always the newest.', examples: [null] }) })
  .nullable()
  .meta({
    description: 'What the operator gave; null: the default of new accounts, or what the account has bought.',
    examples: [{ plan_id: 'operator', version: null }],
  });

const figure = (description: string, most: number) => z.int().min(1).max(most).meta({ description });
const DedicatedCapacity = z.strictObject({
  requests_per_minute: figure('Requests per minute, apart from those of the plan.', 2_000_000_000).meta({ examples: [6000] }),
  tokens_per_minute: figure('Tokens per minute, apart from those of the plan.', 2_000_000_000).meta({ examples: [10_000_000] }),
  concurrency: figure('Requests at the same time, kept free on every gateway.', 1_000_000).meta({ examples: [100] }),
});

export const AccountResponse = z
  .object({
    account_id: Uuid,
    name: z.string().meta({ examples: ['Ada Lovelace'] }),
    emails: z.array(z.string()).meta({ description: 'Of its users.', examples: [['ada@example.com']] }),
    plan_id: PlanId.meta({ description: 'What live keys and sessions go by.' }),
    plan_version: PlanVersion.meta({ examples: [1] }),
    given_plan: GivenPlan,
    subscription_plan_id: PlanId.nullable().meta({
      description: 'What the account pays for; null without a subscription.',
      examples: [null],
    }),
    dedicated_capacity: DedicatedCapacity.nullable().meta({
      description: 'What is reserved by contract for its requests to the address for dedicated traffic; null without a contract.',
      examples: [null],
    }),
    created_at: Timestamp,
  })
  .meta({ id: 'AccountResponse', description: 'An account, as administrators see it.' });
export type AccountResponse = z.infer<typeof AccountResponse>;

export const AccountListResponse = page(AccountResponse).meta({
  id: 'AccountListResponse',
  description: 'Accounts, newest first; closed ones are not among them.',
});
export type AccountListResponse = z.infer<typeof AccountListResponse>;

export const AccountPlanRequest = z
  .strictObject({
    plan_id: PlanId.nullable().meta({ description: 'Null takes back what was given.' }),
    version: PlanVersion.optional().meta({ description: 'Default: always the newest version.' }),
  })
  .refine(({ plan_id, version }) => plan_id !== null || version === undefined, {
    path: ['version'],
    message: 'must be left out where plan_id is null',
  })
  .meta({ id: 'AccountPlanRequest', description: 'The plan to give.', examples: [{ plan_id: 'operator' }] });
export type AccountPlanRequest = z.input<typeof AccountPlanRequest>;

export const DedicatedCapacityRequest = z
  .strictObject({
    dedicated_capacity: DedicatedCapacity.nullable().meta({ description: 'Null ends the contract.' }),
  })
  .meta({
    id: 'DedicatedCapacityRequest',
    description: 'What to reserve.',
    examples: [{ dedicated_capacity: { requests_per_minute: 6000, tokens_per_minute: 10_000_000, concurrency: 100 } }],
  });
export type DedicatedCapacityRequest = z.infer<typeof DedicatedCapacityRequest>;

/** An API key of an administrator opens the account it belongs to and no other. */
const administers = { auth: 'bearer', session: true, manage: 'admin:write', role: 'admin', tag: 'Accounts' } as const;
const AccountPath = z.object({ account_id: Uuid });

export const accounts = c.router({
  list: {
    method: 'GET',
    path: '/v1/admin/accounts',
    summary: 'List accounts',
    description: 'For administrators: all accounts, or that of an e-mail address.',
    headers: headersA,
    query: z.object({
      email: Email.optional().meta({ description: 'Only the account of this address, upper or lower case.' }),
      ...pageQuery,
    }),
    responses: { 200: AccountListResponse, ...refusals.read },
    metadata: { ...administers, manage: 'admin:read', operationId: 'listAccounts', sdk: 'accounts.list' } as const,
  },
  get: {
    method: 'GET',
    path: '/v1/admin/accounts/:account_id',
    summary: 'One account',
    description: 'For administrators.',
    headers: headersA,
    pathParams: AccountPath,
    responses: { 200: AccountResponse, 404: problem, ...refusals.read },
    metadata: { ...administers, manage: 'admin:read', operationId: 'getAccount', sdk: 'accounts.get' } as const,
  },
  setPlan: {
    method: 'PUT',
    path: '/v1/admin/accounts/:account_id/plan',
    summary: 'Give an account a plan',
    description:
      'For administrators: any plan, sold or not, without a payment. In effect on every gateway within a second. It takes precedence over a running subscription, which is still billed; a plan that is bought later stands before it.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: AccountPath,
    body: AccountPlanRequest,
    responses: { 200: AccountResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'setAccountPlan', sdk: 'accounts.setPlan' } as const,
  },
  setDedicatedCapacity: {
    method: 'PUT',
    path: '/v1/admin/accounts/:account_id/dedicated-capacity',
    summary: 'Reserve capacity for an account',
    description:
      'For administrators: what an account may use at the address for dedicated traffic (`ENTERPRISE_BASE_URL`), in place of the rate limits of its plan there. The concurrency is reserved on every gateway, used or not. In effect on every gateway within a second.',
    headers: { ...headersA, ...idempotencyHeader },
    pathParams: AccountPath,
    body: DedicatedCapacityRequest,
    responses: { 200: AccountResponse, 404: problem, 409: problem, ...refusals.write },
    metadata: { ...administers, operationId: 'setDedicatedCapacity', sdk: 'accounts.setDedicatedCapacity' } as const,
  },
});
