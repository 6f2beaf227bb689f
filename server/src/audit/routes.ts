import type { AuditLogResponse, contract } from '@tallygate/contract';
import type { Handlers } from '../http/index.ts';
import { Problem } from '../kernel/problem.ts';
import type { AuditLog } from './audit-log.ts';

export const auditRoutes = (auditLog: AuditLog): Handlers<typeof contract.audit> => ({
  list: async ({ principal, query }) => {
    if (principal.kind === 'key' && query.ip !== undefined)
      throw new Problem('session_required', 'API keys are not told IP addresses: log in and send the session token.');
    const entries = await auditLog.list({ ...query, accountId: principal.accountId });
    return { status: 200, body: principal.kind === 'key' ? withoutAddresses(entries) : entries };
  },
  listAll: async ({ query: { account_id, ...filter } }) => ({
    status: 200,
    body: await auditLog.list({ ...filter, accountId: account_id }),
  }),
});

/** API keys are in configurations and services, so their holders do not get the IP addresses of the account's users. */
const withoutAddresses = (entries: AuditLogResponse): AuditLogResponse => ({
  ...entries,
  data: entries.data.map((entry) => ({ ...entry, ip: null })),
});
