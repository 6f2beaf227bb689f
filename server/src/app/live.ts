import { contract, type LiveFigures } from '@tallygate/contract';
import { seenBy } from '../access/projects/index.ts';
import { type createBudgets, toSummary } from '../money/budgets/index.ts';
import { LiveAccounts, readFigures } from '../money/live/index.ts';
import type { RunQueries } from '../money/runs/index.ts';
import { listReceipts, type RequirePlan } from '../receipts/index.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

interface LiveDeps {
  readonly foundation: Pick<Foundation, 'pool' | 'archive' | 'clock' | 'log'>;
  readonly budgets: ReturnType<typeof createBudgets>;
  readonly runs: RunQueries;
  readonly requirePlan: RequirePlan;
}

/** What accounts spend now, once or as it changes. */
export function openLive({ foundation: { pool, archive, clock, log }, budgets, runs, requirePlan }: LiveDeps): {
  readonly accounts: LiveAccounts;
  readonly endpoints: readonly Endpoint[];
} {
  const read = readFigures({
    seenBy: seenBy(pool),
    budgets: async (principal) => toSummary(await budgets.list(principal)),
    runs: async (scope, limit) => (await runs.list(scope, { limit }, clock.now())).data,
    async requests(scope, limit) {
      await requirePlan(scope);
      return (await listReceipts(pool, archive, scope, { limit })).data;
    },
  });
  const accounts = new LiveAccounts({ read, log });
  const get = async (figures: Promise<LiveFigures>) => ({ status: 200 as const, body: await figures });
  return { accounts, endpoints: endpointsOf(contract.live, { get: ({ principal }) => get(accounts.figures(principal)) }) };
}
