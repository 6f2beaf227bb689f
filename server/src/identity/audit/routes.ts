import type { contract } from '@tallygate/contract';
import type { Handlers } from '../handlers.ts';
import type { AuditLog } from './audit-log.ts';

export const auditRoutes = (auditLog: AuditLog): Handlers<typeof contract.audit> => ({
  list: async ({ principal, query }) => ({ status: 200, body: await auditLog.list({ ...query, accountId: principal.accountId }) }),
  listAll: async ({ query: { account_id, ...filter } }) => ({
    status: 200,
    body: await auditLog.list({ ...filter, accountId: account_id }),
  }),
});
