import type { InvoiceList, InvoicePayload, InvoiceResponse, ReceiptLog } from '@tallygate/contract';
import { inclusionRanges } from '@tallygate/receipts';
import type { Pool } from 'pg';
import type { Month } from '../../kernel/clock.ts';
import { formatUsd } from '../../kernel/money.ts';
import { Keyset, mapPage, type PageQuery } from '../../kernel/page.ts';
import { Problem } from '../../kernel/problem.ts';
import { firstOf, rowsOf } from '../../kernel/statements.ts';
import type { ReceiptScope } from '../list-receipts.ts';
import { provingState } from '../log/read-log.ts';
import { readRanges } from '../log/stored-tree.ts';
import type { ReadDeps } from '../read-receipt.ts';
import { signDocument } from '../sign-receipt.ts';
import { INVOICES } from './issue-invoice.ts';

const shown = ({ accountId, livemode }: ReceiptScope) =>
  INVOICES.select(['payload', 'digest', 'log_index'])
    .where('account_id', '=', accountId)
    .where('livemode', '=', livemode)
    .where('set_aside_at', 'is', null);

const BY_SEQUENCE = new Keyset({ name: 'signed_invoices', columns: { sequence: 'integer' }, direction: 'desc' });

/** The newest month first. @throws Problem `validation_failed` for a cursor of another list */
export async function listInvoices(pool: Pool, scope: ReceiptScope, query: PageQuery): Promise<InvoiceList> {
  const rows = await rowsOf(pool, BY_SEQUENCE.pageIn(shown(scope), query));
  return mapPage(BY_SEQUENCE.page(rows, query), ({ payload, log_index: index }) => itemOf(JSON.parse(payload) as InvoicePayload, index));
}

const itemOf = (said: InvoicePayload, index: bigint | null): InvoiceList['data'][number] => ({
  object: 'invoice.item',
  id: said.invoice_id,
  month: said.month,
  livemode: said.livemode,
  sequence: said.sequence,
  receipts: said.months.reduce((sum, { first_number: first, last_number: last }) => sum + last - first + 1, 0),
  cost_usd: usd(sumOf(said, 'cost_nano_usd')),
  covered_usd: usd(sumOf(said, 'covered_nano_usd')),
  total_usd: usd(said.total_nano_usd),
  due_usd: usd(said.due_nano_usd),
  issued_at: said.issued_at,
  log_index: index === null ? null : Number(index),
});

const sumOf = ({ months }: InvoicePayload, field: 'cost_nano_usd' | 'covered_nano_usd'): bigint =>
  months.reduce((sum, month) => sum + BigInt(month[field]), 0n);
const usd = (nano: string | bigint): string => formatUsd(BigInt(nano));

/** Signed now, with its place in the log. @throws Problem `not_found` */
export async function findInvoice(
  { pool, key }: Pick<ReadDeps, 'pool' | 'key'>,
  scope: ReceiptScope,
  month: Month,
): Promise<InvoiceResponse> {
  const row = await firstOf(pool, shown(scope).where('month', '=', month));
  if (!row)
    throw new Problem(
      'not_found',
      `There is no invoice of ${month}: one is issued in the first hours of the next month, where anything was requested.`,
    );
  const payload = JSON.parse(row.payload) as InvoicePayload;
  return {
    object: 'invoice',
    id: payload.invoice_id,
    payload,
    digest: row.digest.toString('hex'),
    jws: await signDocument('tallygate-invoice', row.payload, key),
    log: await placeOf(pool, row.log_index),
  };
}

async function placeOf(pool: Pool, logIndex: bigint | null): Promise<ReceiptLog> {
  const index = Number(logIndex);
  const state = logIndex === null ? undefined : await provingState(pool, index);
  if (!state || index >= state.size) return { state: 'pending' };
  const path = (await readRanges(pool, inclusionRanges(index, state.size))).map((node) => Buffer.from(node).toString('base64'));
  return { state: 'logged', index, tree_size: state.size, inclusion_path: path, checkpoint: state.note };
}
