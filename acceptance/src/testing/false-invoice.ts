import type { InvoicePayload } from '@tallygate/contract';
import { canonicalJson } from '@tallygate/receipts';
import type pg from 'pg';
import { invoiceDigestOf } from '../../../server/src/receipts/invoices/issue-invoice.ts';
import { sealKeyOf, sealOf } from '../../../server/src/receipts/seal.ts';
import { signingKeyFromSeed } from '../../../server/src/receipts/signing-keys.ts';

interface Forgery {
  readonly accountId: string;
  /** Of the key of the log. */
  readonly logSeed: Uint8Array;
  readonly changes: (honest: InvoicePayload) => Partial<InvoicePayload>;
}

/** Puts another invoice in the place of the one that was issued, sealed as if the gateway had made it. */
export async function forgeInvoice(client: pg.Client, { accountId, logSeed, changes }: Forgery): Promise<void> {
  const { rows } = await client.query<{ document_id: string; payload: string }>(
    'select document_id, payload from log_documents join signed_invoices on document_id = invoice_id where account_id = $1 and livemode',
    [accountId],
  );
  const [row] = rows;
  if (!row) throw new Error(`The account ${accountId} has no invoice`);
  const honest = JSON.parse(row.payload) as InvoicePayload;
  const payload = canonicalJson({ ...honest, ...changes(honest) });
  const digest = invoiceDigestOf(payload);
  const seal = sealOf(sealKeyOf(signingKeyFromSeed(Buffer.from(logSeed))), digest);
  await client.query('update log_documents set payload = $2, digest = $3, seal = $4 where document_id = $1', [
    ...[row.document_id, payload, digest, seal],
  ]);
}
