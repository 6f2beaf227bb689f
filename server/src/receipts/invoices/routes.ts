import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import type { ReadDeps } from '../read-receipt.ts';
import { scopeOf } from '../routes.ts';
import { findInvoice, listInvoices } from './read-invoices.ts';

export const invoiceRoutes = ({ pool, key }: Pick<ReadDeps, 'pool' | 'key'>): Handlers<typeof contract.invoices> => ({
  listInvoices: async ({ principal, query: { livemode, ...page } }) => ({
    status: 200,
    body: await listInvoices(pool, scopeOf(principal, livemode), page),
  }),
  getInvoice: async ({ principal, params: { month }, query: { livemode } }) => ({
    status: 200,
    body: await findInvoice({ pool, key }, scopeOf(principal, livemode), month),
  }),
});
