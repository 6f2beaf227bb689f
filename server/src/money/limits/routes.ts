import type { contract } from '@tallygate/contract';
import { originOf } from '../../audit/index.ts';
import type { Handlers, Principal } from '../../http/index.ts';
import type { Limits } from './limits.ts';

export const limitRoutes = (limits: Limits): Handlers<typeof contract.limits> => ({
  list: async ({ principal, query }) => ({ status: 200, body: await limits.list(principal, query) }),
  set: async ({ principal, body, ...call }) => ({ status: 200, body: await limits.set(principal, body, originOf(call)) }),
  timeZone: async ({ principal }) => ({ status: 200, body: await limits.timeZone(principal.accountId) }),
  setTimeZone: async ({ principal, body, ...call }) => ({ status: 200, body: await limits.setTimeZone(principal, body, originOf(call)) }),
  get: async ({ principal, params, query: { subject, livemode = isLive(principal) } }) => ({
    status: 200,
    body: await limits.status(principal, params.limit_id, { subject, livemode }),
  }),
  delete: async ({ principal, params, ...call }) => {
    await limits.delete(principal, params.limit_id, originOf(call));
    return { status: 204, body: undefined };
  },
});

const isLive = (principal: Principal): boolean => principal.kind === 'session' || principal.livemode;
