import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { getInvoice } from './get.ts';
import { listInvoices } from './list.ts';
import { verifyInvoice } from './verify.ts';

export function invoiceCommands(invoices: Command, perform: Perform): void {
  listInvoices(invoices, perform);
  getInvoice(invoices, perform);
  verifyInvoice(invoices, perform);
}
