import type { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import { projectsSeenBy } from '../../access/projects/index.ts';
import type { Handlers, Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { usageOf } from './usage-queries.ts';

interface UsageRoutesDeps {
  readonly pool: Pool;
  readonly clock: Clock;
}

export const usageRoutes = ({ pool, clock }: UsageRoutesDeps): Handlers<typeof contract.usage> => ({
  getUsage: async ({ principal, query }) => {
    const projects = await projectsSeenBy(pool, principal);
    const scope = { accountId: principal.accountId, livemode: isLive(principal), projects };
    return { status: 200, body: await usageOf(pool, scope, query, clock.now()) };
  },
  getAdminUsage: async ({ principal, query }) => ({
    status: 200,
    body: await usageOf(pool, { accountId: undefined, livemode: isLive(principal) }, query, clock.now()),
  }),
});

const isLive = (principal: Principal): boolean => principal.kind === 'session' || principal.livemode;
