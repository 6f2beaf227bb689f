import type { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import { seenBy } from '../../access/projects/index.ts';
import type { Handlers, Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { usageOf } from './usage-queries.ts';
import type { UsageScope } from './usage-question.ts';

interface UsageRoutesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

export const usageRoutes = ({ pool, clock }: UsageRoutesDeps): Handlers<typeof contract.usage> => ({
  getUsage: async ({ principal, query }) => {
    const scope = await usageScopeOf(pool, principal);
    return { status: 200, body: await usageOf(pool, scope, query, clock.now()) };
  },
  getAdminUsage: async ({ principal, query }) => ({
    status: 200,
    body: await usageOf(pool, adminUsageScopeOf(principal), query, clock.now()),
  }),
});

/** What a member of an account sees of its usage. */
export const usageScopeOf = async (pool: Pool, principal: Principal): Promise<UsageScope & { readonly accountId: string }> => ({
  ...{ accountId: principal.accountId, livemode: isLive(principal) },
  seen: await seenBy(pool)(principal),
});

/** What an operator sees. */
export const adminUsageScopeOf = (principal: Principal): UsageScope => ({ accountId: undefined, livemode: isLive(principal) });

const isLive = (principal: Principal): boolean => principal.kind === 'session' || principal.livemode;
