import type { contract, DedicatedCapacityRequest } from '@tallygate/contract';
import type { DedicatedCapacity } from '../../access/identity/index.ts';
import type { Handlers } from '../../http/index.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { createAccountRecords } from './account-records.ts';
import type { PlanBook } from './plan-book.ts';
import type { AccountPlans } from './plans.ts';
import { authorOf, trailBy } from './tell.ts';

/**
 * What administrators do with accounts.
 * @param concurrency what a gateway serves at the same time; null where it has no address for dedicated traffic
 */
export function planAdministrationRoutes(plans: AccountPlans, concurrency: number | null): Handlers<typeof contract.accounts> {
  const { book, given } = plans;
  const records = createAccountRecords(plans.pool, plans);
  return {
    list: async ({ query }) => ({ status: 200, body: await records.list(query) }),
    get: async ({ params }) => ({ status: 200, body: await records.get(params.account_id) }),
    setPlan: async ({ params, principal, body, ...call }) => {
      const { account_id: accountId } = params;
      const plan = body.plan_id === null ? null : knownPlan(book, body.plan_id, body.version);
      await given.give(accountId, plan, trailBy(authorOf(principal, call), accountId));
      return { status: 200, body: await records.get(accountId) };
    },
    setDedicatedCapacity: async ({ params, principal, body, ...call }) => {
      const { account_id: accountId } = params;
      const reserve = fromWire(body.dedicated_capacity);
      await plans.capacity.reserve(accountId, { reserve, concurrency }, trailBy(authorOf(principal, call), accountId));
      return { status: 200, body: await records.get(accountId) };
    },
  };
}

/** @throws Problem `validation_failed` with the plans that there are */
export function knownPlan(book: Pick<PlanBook, 'find' | 'ids'>, id: string, version?: number): string {
  if (!book.find(id))
    throw invalidInput([{ loc: ['body', 'plan_id'], msg: `is no plan: there are ${book.ids.join(', ')}`, type: 'invalid' }]);
  const ref = version === undefined ? id : `${id}@${version}`;
  if (!book.find(ref)) throw invalidInput([{ loc: ['body', 'version'], msg: `is no version of the plan ${id}`, type: 'invalid' }]);
  return ref;
}

function fromWire(given: DedicatedCapacityRequest['dedicated_capacity']): DedicatedCapacity | null {
  if (given === null) return null;
  return { requestsPerMinute: given.requests_per_minute, tokensPerMinute: given.tokens_per_minute, concurrency: given.concurrency };
}
