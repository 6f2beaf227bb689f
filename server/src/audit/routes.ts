import type { AuditLogResponse, contract } from '@tallygate/contract';
import type { Handlers } from '../http/index.ts';
import type { AuditLog } from './audit-log.ts';

export const auditRoutes = (auditLog: AuditLog): Handlers<typeof contract.audit> => ({
  list: async ({ principal, query }) => {
    const entries = await auditLog.list({ ...query, accountId: principal.accountId });
    return { status: 200, body: principal.kind === 'key' ? withoutAddresses(entries) : entries };
  },
  listAll: async ({ query: { account_id, ...filter } }) => ({
    status: 200,
    body: await auditLog.list({ ...filter, accountId: account_id }),
  }),
});

/** API keys lie in configurations and with services: where the people of an account sit is no business of whoever holds one. */
const withoutAddresses = (entries: AuditLogResponse): AuditLogResponse => ({
  ...entries,
  data: entries.data.map((entry) => ({ ...entry, ip: null })),
});
