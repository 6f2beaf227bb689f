import type { contract } from '@tallygate/contract';
import type { Pool } from 'pg';
import type { Handlers, Principal } from '../identity/index.ts';
import type { Clock } from '../kernel/clock.ts';
import { requestTrace, usageOf } from './usage-queries.ts';

export const ledgerRoutes = ({ pool, clock }: { pool: Pool; clock: Clock }): Handlers<typeof contract.ledger> => ({
  getUsage: async ({ principal, query }) => ({ status: 200, body: await usageOf(pool, scopeOf(principal), query, clock.now()) }),
  getRequest: async ({ principal, params }) => ({ status: 200, body: await requestTrace(pool, principal.accountId, params.request_id) }),
});

const scopeOf = (principal: Principal) => ({
  accountId: principal.accountId,
  livemode: principal.kind === 'session' || principal.livemode,
});
