import { defineEntity, p } from '@mikro-orm/core';

export const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    /** Null: what follows from the gateway's settings. */
    plan: p.text().nullable(),
    /** What of it the operator gave. */
    givenPlan: p.text().fieldName('given_plan').nullable(),
    storesContent: p.boolean().fieldName('stores_content').defaultRaw('true'),
    /** With e-mail address and password; owners can always. */
    passwordLogin: p.boolean().fieldName('password_login').defaultRaw('true'),
    createdAt: p.datetime().fieldName('created_at'),
    /** By which the periods of its limits are counted, an IANA name. */
    timeZone: p.text().fieldName('time_zone').defaultRaw("'UTC'"),
    /** By contract; all three or none. */
    reservedRequestsPerMinute: p.integer().fieldName('reserved_requests_per_minute').nullable(),
    reservedTokensPerMinute: p.integer().fieldName('reserved_tokens_per_minute').nullable(),
    reservedConcurrency: p.integer().fieldName('reserved_concurrency').nullable(),
  },
});

/** An account is named after its owner until then. */
export const CLOSED_ACCOUNT_NAME = 'Closed account';

/** Throughput and concurrency that are kept free for one account. */
export interface DedicatedCapacity {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  /** Requests at the same time. */
  readonly concurrency: number;
}

/** Owns keys, usage and money. A user who signs up gets one of their own. */
export class Account extends AccountSchema.class {
  /** What is reserved for it by contract, if it has one. */
  get dedicated(): DedicatedCapacity | undefined {
    const {
      reservedRequestsPerMinute: requestsPerMinute,
      reservedTokensPerMinute: tokensPerMinute,
      reservedConcurrency: concurrency,
    } = this;
    if (requestsPerMinute == null || tokensPerMinute == null || concurrency == null) return undefined;
    return { requestsPerMinute, tokensPerMinute, concurrency };
  }
}
AccountSchema.setClass(Account);

/** Which plan an account is on, by what is on record of it: `pro@1`, or an id, which is the newest version. */
export type PlanOfAccount = (account: { readonly plan: string | null; readonly givenPlan: string | null }) => string;

/** Which version it is is told with the plan itself. */
export const planIdOf = (planOf: PlanOfAccount, { plan = null, givenPlan = null }: Pick<Account, 'plan' | 'givenPlan'>): string =>
  planOf({ plan, givenPlan }).replace(/@\d+$/, '');
