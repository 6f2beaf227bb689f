import { initContract } from '@ts-rest/core';
import * as z from 'zod';
import { headersA, refusals } from './conventions.ts';
import { AdminUsageQuery, UsageQuery } from './usage.ts';

const c = initContract();

const Format = z.enum(['csv', 'focus']).default('csv').meta({
  description:
    '`csv`: a row for each group, with the columns of `GET /v1/usage`. `focus`: a FOCUS 1.2 dataset, a row for each meter of requests that are charged alike, in days or hours of UTC; of at most 31 days, and without `group_by`.',
});

const csv = z.string().meta({
  description: 'A header and a row for each group.',
  examples: ['from,to,model,requests,…,cost_usd,charged_usd\r\n2026-11-01,2026-11-21,gpt-4o-mini,42,…,0.00405,0\r\n'],
});
const answers = { 200: c.otherResponse({ contentType: 'text/csv', body: csv }), ...refusals.read };
const DESCRIPTION =
  'RFC 4180, UTF-8, streamed: all groups, as of one moment. Amounts are exact decimal USD. A cell that a spreadsheet would take for a formula begins with an apostrophe. A few exports are written at a time; others wait for their turn.';

/** Usage as files, which pass as they are read. */
export const usageTransfers = c.router({
  exportUsage: {
    method: 'GET',
    path: '/v1/usage/export',
    summary: 'Export usage and cost as CSV',
    description: DESCRIPTION,
    headers: headersA,
    query: UsageQuery.extend({ format: Format }),
    responses: answers,
    metadata: { auth: 'bearer', scope: 'account:read', tag: 'Usage', operationId: 'exportUsage', sdk: 'usage.export' } as const,
  },
  exportAdminUsage: {
    method: 'GET',
    path: '/v1/admin/usage/export',
    summary: 'Export usage and cost of all accounts as CSV',
    description: `For administrators: \`GET /v1/usage/export\` of all accounts, or of one. ${DESCRIPTION}`,
    headers: headersA,
    query: AdminUsageQuery.extend({ format: Format }),
    responses: answers,
    metadata: {
      auth: 'bearer',
      scope: 'admin:read',
      role: 'admin',
      tag: 'Usage',
      operationId: 'exportAdminUsage',
      sdk: 'usage.exportOfAll',
    } as const,
  },
});
