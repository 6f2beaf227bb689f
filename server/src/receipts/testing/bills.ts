import type { InvoiceResponse, VaasKeySet } from '@tallygate/contract';
import { invoiceChainFaults, type VerifiedInvoice, verifyBill, verifyInvoice } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { exportReceipts } from '../export-receipts.ts';
import { findInvoice } from '../invoices/read-invoices.ts';
import type { ReceiptScope } from '../list-receipts.ts';
import { newSigningSeed, type SigningKey, signingKeyFromSeed } from '../signing-keys.ts';

interface Deps {
  readonly pool: Pool;
  readonly key?: SigningKey;
  readonly keySet?: VaasKeySet;
}

const ownKey = signingKeyFromSeed(newSigningSeed());

/** An export as it is sent, line by line. */
export async function exportedLines(
  { pool, key = ownKey, keySet = setOf(key) }: Deps,
  scope: ReceiptScope,
  month: string,
): Promise<string[]> {
  const archive = emptyArchive(pool);
  const deps = { pool, archive, key, clock: { now: () => Date.now() }, keySet: async () => keySet, isAnchoring: false };
  const parts: Buffer[] = [];
  for await (const part of exportReceipts(deps, scope, month)) parts.push(part);
  return Buffer.concat(parts).toString().split('\n');
}

/** All invoices of an account in one mode, oldest first. */
export async function invoicesOf({ pool, key = ownKey }: Deps, scope: ReceiptScope): Promise<InvoiceResponse[]> {
  const { rows } = await pool.query<{ month: string }>(
    'select month from signed_invoices where account_id = $1 and livemode = $2 order by sequence',
    [scope.accountId, scope.livemode],
  );
  const found: InvoiceResponse[] = [];
  for (const { month } of rows) found.push(await findInvoice({ pool, key }, scope, month));
  return found;
}

/** What contradicts, of all invoices of an account beside the exports of its receipts: as `tallygate invoices verify` would find it. */
export async function billFaults(deps: Deps, scope: ReceiptScope): Promise<string[]> {
  const { key = ownKey, keySet = setOf(key) } = deps;
  const faults: string[] = [];
  const verified: VerifiedInvoice[] = [];
  for (const invoice of await invoicesOf(deps, scope)) {
    const found = verifyInvoice(invoice, keySet, { accountId: scope.accountId });
    if (!found.valid) return [`${invoice.payload.month}: ${found.reason}`];
    verified.push(found);
    const counted = found.payload.months.filter(({ first_number: first, last_number: last }) => last >= first);
    const exports = await Promise.all(counted.map(({ month }) => exportedLines(deps, scope, month)));
    const reading = verifyBill(found, exports, keySet, { accountId: scope.accountId });
    for (;;) {
      const { value, done } = await reading.next();
      if (done) {
        faults.push(...value.faults.map(({ code, reason }) => `${code}: ${reason}`), ...value.unchecked);
        faults.push(...value.months.flatMap((month) => month.faults.map(({ code, reason }) => `${code}: ${reason}`)));
        break;
      }
      if (!value.verdict.valid) faults.push(`${value.verdict.code}: ${value.verdict.reason}`);
    }
  }
  return [...faults, ...invoiceChainFaults(verified)];
}

const setOf = ({ x, kid }: SigningKey): VaasKeySet => ({
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      kid,
      use: 'sig',
      alg: 'EdDSA',
      purpose: 'receipt',
      not_before: '2026-01-01T00:00:00.000Z',
      not_after: null,
    },
  ],
});
