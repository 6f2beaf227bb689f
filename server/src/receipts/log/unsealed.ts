import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { recordAudit } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { rowsOf } from '../../kernel/statements.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import { type OwnKeys, ownSealKey } from '../own-keys.ts';
import { sealOf } from '../seal.ts';
import { tables } from '../tables.ts';
import { decideDocuments } from './documents.ts';

/** A receipt, or a document, that the gateway has not written, or not so. */
export interface UnsealedReceipt {
  readonly receipt_id: string;
  readonly account_id: string | null;
  readonly found_at: Date;
}

/** Sets rows aside, whole: no answer has them, and the log never takes them in. */
export async function setAside(client: PoolClient, receiptIds: readonly string[], clock: Clock): Promise<void> {
  if (receiptIds.length === 0) return;
  await client.query(
    `with gone as (delete from receipts where receipt_id = any($1) and log_index is null returning *)
     insert into unsealed_receipts (receipt_id, account_id, receipt, found_at) select receipt_id, account_id, to_jsonb(gone), $2 from gone
     on conflict (receipt_id) do update set receipt = excluded.receipt, found_at = excluded.found_at`,
    [receiptIds, new Date(clock.now())],
  );
}

export async function unsealedReceipts(pool: Pool): Promise<UnsealedReceipt[]> {
  const receipts = tables
    .selectFrom('unsealed_receipts')
    .select((eb) => ['receipt_id', eb.ref('account_id').$castTo<string | null>().as('account_id'), 'found_at'] as const);
  const documents = tables
    .selectFrom('log_documents')
    .leftJoin('signed_invoices', 'invoice_id', 'document_id')
    .select((eb) => ['document_id as receipt_id', 'account_id', eb.ref('set_aside_at').$notNull().as('found_at')] as const)
    .where('set_aside_at', 'is not', null);
  return rowsOf(pool, receipts.unionAll(documents).orderBy('found_at').orderBy('receipt_id'));
}

/**
 * What a person who has looked makes of them: forgets them, or has the log take them in after all, as where a key of the log was left out while
 * receipts waited that it had sealed. Which they were is in the audit log.
 */
export async function decideUnsealed(pool: Pool, own: OwnKeys, decision: 'accept' | 'forget'): Promise<number> {
  return inTransaction(pool, async (client) => {
    const digest = sql<Buffer>`(jsonb_populate_record(null::receipts, receipt)).digest`;
    const rows = await rowsOf(client, tables.deleteFrom('unsealed_receipts').returning(['receipt_id', 'receipt', digest.as('digest')]));
    if (decision === 'accept')
      await client.query(
        `insert into receipts select (jsonb_populate_record(null::receipts, receipt || jsonb_build_object('seal', seal))).*
          from unnest($1::jsonb[], $2::text[]) as given (receipt, seal)`,
        [rows.map(({ receipt }) => receipt), rows.map(({ digest }) => `\\x${sealOf(ownSealKey(own), digest).toString('hex')}`)],
      );
    const documents = await decideDocuments(client, ownSealKey(own), decision);
    const decided = [...rows.map(({ receipt_id: id }) => id), ...documents];
    if (decided.length > 0)
      await recordAudit(client, {
        accountId: null,
        actor: { kind: 'system', id: null },
        action: `unsealed_receipts.${decision === 'accept' ? 'accepted' : 'forgotten'}`,
        target: { kind: 'receipt_log', id: 'unsealed' },
        changes: { receipts: decided },
      });
    return decided.length;
  });
}
