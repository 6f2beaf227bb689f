import type { InvoicePayload } from '@tallygate/contract';
import { accountHash, canonicalJson, type Declaration, verifyBill, verifyInvoice } from '@tallygate/receipts';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { appendAll } from '../log/append.ts';
import { auditLog } from '../log/audit-log.ts';
import { readEntries } from '../log/read-entries.ts';
import { decideUnsealed, unsealedReceipts } from '../log/unsealed.ts';
import { publishOwnKeys } from '../own-keys.ts';
import { publishedKeySet } from '../published-keys.ts';
import { sealKeyOf, sealOf } from '../seal.ts';
import { newSigningSeed, signingKeyFromSeed } from '../signing-keys.ts';
import { billFaults, exportedLines, invoicesOf } from '../testing/bills.ts';
import { declarePrice, keptInMemory, type ReceiptWish, storeReceipts } from '../testing/receipts.ts';
import { dueInvoices, invoiceDigestOf, issueInvoice } from './issue-invoice.ts';

const at = (time: string): number => Date.parse(`${time}Z`);
const NOVEMBER = at('2026-11-21T08:00:00');
const DECEMBER = at('2026-12-01T01:00:00');
const FOREVER = new AbortController().signal;
const own = { receipt: [signingKeyFromSeed(newSigningSeed())], checkpoint: [signingKeyFromSeed(newSigningSeed())] };
const [key, logKey] = [own.receipt[0] ?? signingKeyFromSeed(newSigningSeed()), own.checkpoint[0] ?? signingKeyFromSeed(newSigningSeed())];
const kept = keptInMemory();
const quota = { requests: 10, tokens: 100, images: 0, audio_seconds: 0, video_seconds: 0 };

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
/** What receipts say that are charged. */
let priced: Partial<ReceiptWish>;
/** A new account for each test. */
let scope = { accountId: newId(), livemode: true };

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool({ url: database.url, log: silentLog(), poolSize: 4 });
  await publishOwnKeys(pool, own, at('2026-01-01T00:00:00'));
  priced = await declarePrice({ pool, own, kept });
});
beforeEach(() => {
  scope = { accountId: newId(), livemode: true };
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const store = (...wishes: readonly ReceiptWish[]) =>
  storeReceipts(
    pool,
    logKey,
    wishes.map((wish) => ({ account_id: scope.accountId, ...priced, ...wish })),
  );
const issueDeps = { clock: { now: () => DECEMBER }, sealKey: sealKeyOf(logKey), quotaOf: () => quota };
const issue = (month: string, of = scope) => issueInvoice(pool, of, month, issueDeps);
const fatal: object[] = [];
const log = { ...silentLog(), fatal: (said: object) => void fatal.push(said) } as unknown as Log;
const append = (undeclared: readonly Declaration[] = []) =>
  appendAll({ pool, keys: own.checkpoint, kept, clock: { now: () => DECEMBER }, log, undeclared: async () => undeclared }, FOREVER);
const deps = async () => ({ pool, key, keySet: await publishedKeySet(pool, own) });
/** As a customer finds it who asks `tallygate invoices verify`. */
const found = async () => billFaults(await deps(), scope);
const codes = async () => [...new Set((await found()).map((fault) => fault.split(':')[0]))].sort();
async function auditFaults(): Promise<string[]> {
  const faults: string[] = [];
  const auditor = { ...silentLog(), error: ({ fault }: { fault: string }) => void faults.push(fault) } as unknown as Log;
  await auditLog({ pool, archive: emptyArchive(pool), own, clock: { now: () => DECEMBER }, log: auditor, onFound: () => {} }, FOREVER);
  return faults;
}

/** Costs 4 nano-USD for 4 tokens, of which so many are covered. */
const paid = (covered: number): Partial<ReceiptWish> => ({
  usage: { input_tokens: 4, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
  cost_nano_usd: '4',
  payment: {
    ...{ plan: 'pro@1', funding: 'balance', charged_nano_usd: `${4 - covered}` },
    covered: covered === 0 ? {} : { requests: 1, tokens: covered },
  },
});
const refundOf = (receipt: string, request: string, covered: number, completedAt = NOVEMBER): ReceiptWish => ({
  ...paid(covered),
  ...{ kind: 'refund', outcome: 'refunded', refund_of: receipt, refund_reason: 'It failed.', request_id: request },
  ...{ completedAt, started_at: '2026-11-21T08:00:00.000Z' },
});

describe('an invoice', () => {
  test('follows from the receipts of its month, and stands in the log after them', async () => {
    const [first = ''] = await store({ ...paid(4), completedAt: NOVEMBER, request_id: 'req_1' }, { ...paid(2), completedAt: NOVEMBER });
    await store(refundOf(first, 'req_1', 4), { ...paid(0), completedAt: NOVEMBER });
    const invoice = await issue('2026-11');
    expect(invoice).toMatchObject({
      ...{ month: '2026-11', sequence: 1, previous: null, total_nano_usd: '6', plans: [{ plan: 'pro@1', quota }] },
      months: [
        { ...{ last_number: 4, charges: 3, refunds: 1, used_nano_usd: '12', refunded_nano_usd: '4' }, covered: { requests: 1, tokens: 2 } },
      ],
    });
    const { rows } = await pool.query("select data from webhook_messages where type = 'invoice.issued' and account_id = $1", [
      scope.accountId,
    ]);
    expect(rows.map(({ data }) => data)).toEqual([
      { invoice_id: invoice?.invoice_id, month: '2026-11', livemode: true, total_usd: '0.000000006', due_usd: '0' },
    ]);
    await append();
    expect(await found()).toEqual([]);
    const [{ log: place } = { log: { state: 'pending' } }] = await invoicesOf(await deps(), scope);
    expect(place).toMatchObject({ state: 'logged' });
    expect(await auditFaults()).toEqual([]);
  });

  test('stands behind its receipts, and they behind what was declared with them', async () => {
    await append();
    const [receipt = ''] = await store({ ...paid(0), completedAt: NOVEMBER });
    const invoice = await issue('2026-11');
    const end = '2026-12-01T01:00:00.000Z';
    const declaration: Declaration = {
      ...{ version: 'tallygate-declaration/v1', kind: 'key_retired', declared_at: end, purpose: 'receipt', kid: receipt, not_after: end },
      ...{ number: 1, previous: null },
    };
    await append([declaration]);
    const { rows } = await pool.query<{ place: string; size: bigint }>(
      `select (size - log_index)::text as place, size from receipt_log, (
         select log_index from log_declarations where subject = $1::text union all
         select log_index from receipts where receipt_id = $1::uuid union all
         select log_index from log_documents where document_id = $2) placed`,
      [receipt, invoice?.invoice_id],
    );
    expect(rows.map(({ place }) => place)).toEqual(['3', '2', '1']);
    const size = Number(rows[0]?.size);
    expect(await readEntries({ pool, archive: emptyArchive(pool) }, { index: 0, width: size })).toHaveLength(size * 34);
    expect(await auditFaults()).toEqual([]);
    expect(await found()).toEqual([]);
  });

  test('is due for every month with receipts, in both modes, and once', async () => {
    await store({ ...paid(0), completedAt: NOVEMBER }, { ...paid(0), completedAt: at('2026-10-02T08:00:00') });
    await store({ completedAt: NOVEMBER, livemode: false });
    const due = async (before: string) => (await dueInvoices(pool, before)).filter(({ accountId }) => accountId === scope.accountId);
    const test = { ...scope, livemode: false };
    expect(await due('2026-12')).toEqual([
      { ...test, months: ['2026-11'] },
      { ...scope, months: ['2026-10', '2026-11'] },
    ]);
    for (const month of ['2026-10', '2026-11']) await issue(month);
    expect(await issue('2026-11', test)).toMatchObject({ total_nano_usd: '0', months: [{ cost_nano_usd: '1', covered_nano_usd: '0' }] });
    expect(await issue('2026-11')).toBeUndefined();
    expect(await due('2026-12')).toEqual([]);
    expect(await billFaults(await deps(), test)).toEqual([]);
    expect(await found()).toEqual([]);
  });

  test('has what was given back of an earlier month since its invoice', async () => {
    const [receipt = ''] = await store({ ...paid(1), completedAt: NOVEMBER, request_id: 'req_2' });
    await issue('2026-11');
    await store(refundOf(receipt, 'req_2', 1, DECEMBER));
    const [due] = (await dueInvoices(pool, '2027-01')).filter(({ accountId }) => accountId === scope.accountId);
    expect(due?.months).toEqual(['2026-12']);
    const december = await issue('2026-12');
    expect(december?.months).toMatchObject([
      { month: '2026-12', first_number: 1, last_number: 0 },
      { month: '2026-11', first_number: 2, last_number: 2, from_balance_nano_usd: '-3', covered: { requests: -1, tokens: -1 } },
    ]);
    await append();
    expect(await found()).toEqual([]);
  });

  test('counts every receipt once, also where settlements come while it is issued', async () => {
    await store(...Array.from({ length: 3 }, () => ({ ...paid(0), completedAt: NOVEMBER })));
    await Promise.all([issue('2026-11'), store({ ...paid(0), completedAt: NOVEMBER }, { ...paid(0), completedAt: NOVEMBER })]);
    await issue('2026-12');
    expect(await found()).toEqual([]);
    const counted = (await invoicesOf({ pool }, scope)).flatMap(({ payload }) => payload.months.map(({ charges }) => charges));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(5);
  });
});

/** An invoice as whoever has the keys can make it, whose own figures agree. */
async function forge(changes: (honest: InvoicePayload) => Partial<InvoicePayload>, seal: Buffer | null = null): Promise<void> {
  const { rows } = await pool.query<{ document_id: string; payload: string }>(
    'select document_id, payload from log_documents join signed_invoices on document_id = invoice_id where account_id = $1 order by sequence limit 1',
    [scope.accountId],
  );
  const [row] = rows;
  if (!row) throw new Error('There is no invoice');
  const honest = JSON.parse(row.payload) as InvoicePayload;
  const text = canonicalJson({ ...honest, ...changes(honest) });
  const digest = invoiceDigestOf(text);
  await pool.query('update log_documents set payload = $2, digest = $3, seal = $4 where document_id = $1', [
    ...[row.document_id, text, digest, seal ?? sealOf(sealKeyOf(logKey), digest)],
  ]);
}

/** So much more was used, and charged. */
const dearer =
  (by: bigint, { receipts = 0 } = {}) =>
  ({ months, total_nano_usd: total }: InvoicePayload): Partial<InvoicePayload> => ({
    total_nano_usd: `${BigInt(total) + by}`,
    from_balance_nano_usd: `${BigInt(total) + by}`,
    months: months.map((month) => ({
      ...month,
      ...{ last_number: month.last_number + receipts, charges: month.charges + receipts },
      used_nano_usd: `${BigInt(month.used_nano_usd) + by}`,
      cost_nano_usd: `${BigInt(month.cost_nano_usd) + by}`,
      from_balance_nano_usd: `${BigInt(month.from_balance_nano_usd) + by}`,
    })),
  });

describe('an operator who lies is found out by a customer alone, with `tallygate invoices verify`', () => {
  beforeEach(async () => {
    await store({ ...paid(2), completedAt: NOVEMBER }, { ...paid(0), completedAt: NOVEMBER });
    await issue('2026-11');
  });

  test('a false total contradicts the receipts', async () => {
    await forge(dearer(1n));
    await append();
    expect(await codes()).toEqual(['invoice_mismatch']);
  });

  test('a quota that is withheld contradicts the receipts', async () => {
    await forge(({ months }) => ({
      ...{ total_nano_usd: '8', from_balance_nano_usd: '8' },
      months: months.map((month) => ({ ...month, covered_nano_usd: '0', from_balance_nano_usd: '8', covered: {} })),
    }));
    await append();
    expect(await codes()).toEqual(['invoice_mismatch', 'quota_mismatch']);
  });

  test('a request that is counted twice has no receipt', async () => {
    await forge(dearer(4n, { receipts: 1 }));
    await append();
    expect(await codes()).toEqual(['invoice_mismatch', 'missing_receipts']);
  });

  test('a second receipt of one request is a second charge, and named', async () => {
    const { rows } = await pool.query<{ request_id: string }>('select request_id from receipts where account_id = $1 limit 1', [
      scope.accountId,
    ]);
    await store({ ...paid(0), completedAt: NOVEMBER, request_id: rows[0]?.request_id ?? '' });
    await issue('2026-12');
    await append();
    expect(await codes()).toContain('billed_twice');
  });

  test('the last receipts of a month, left out of the export, are missed', async () => {
    await append();
    const [invoice] = await invoicesOf(await deps(), scope);
    const { keySet } = await deps();
    const verified = verifyInvoice(invoice, keySet);
    if (!verified.valid) throw new Error(verified.reason);
    const lines = await exportedLines(await deps(), scope, '2026-11');
    // As if there had never been a second receipt: header, one receipt, and a last line that counts it.
    const end = JSON.stringify({ object: 'receipt_export.end', receipts: 1, logged: 1 });
    const reading = verifyBill(verified, [[lines[0] ?? '', lines[1] ?? '', end]], keySet);
    for (;;) {
      const { value, done } = await reading.next();
      if (!done) continue;
      expect(value.months).toMatchObject([{ faults: [] }]);
      expect(value.faults.map(({ code }) => code)).toContain('missing_receipts');
      break;
    }
  });

  test('a receipt that is dated back into an invoiced month is on no invoice of that month', async () => {
    await append();
    await store({ ...paid(0), completedAt: NOVEMBER });
    await append();
    expect(await found()).toEqual([]);
    await issue('2026-12');
    const [november, december] = await invoicesOf({ pool }, scope);
    expect(november?.payload.months).toMatchObject([{ last_number: 2 }]);
    expect(december?.payload.months).toMatchObject([{ month: '2026-12' }, { month: '2026-11', first_number: 3, last_number: 3 }]);
  });

  test('an invoice that counts a receipt which came into the log after it is refused', async () => {
    await forge(dearer(4n, { receipts: 1 }));
    await append();
    await store({ ...paid(0), completedAt: NOVEMBER });
    await append();
    expect(await codes()).toEqual(['receipt_after_invoice']);
  });

  test('an invoice that is put in the place of another contradicts the next one', async () => {
    await store({ ...paid(0), completedAt: at('2026-12-02T08:00:00') });
    await issue('2026-12');
    await forge(({ nonce }) => {
      const other = nonce.replaceAll('0', '1').replace(/^./, 'f');
      return { nonce: other, account_hash: accountHash(other, scope.accountId) };
    });
    await append();
    expect(await found()).toEqual(['The invoice of 2026-12 follows another one than that of 2026-11.']);
  });
});

describe('whoever writes to the database without the keys', () => {
  beforeEach(async () => {
    await append();
    fatal.length = 0;
    await store({ ...paid(0), completedAt: NOVEMBER });
    await issue('2026-11');
  });

  test('gets no invoice into the log: the gateway sets it aside and says so', async () => {
    await forge(dearer(1n), Buffer.alloc(16));
    await append();
    const [aside] = await unsealedReceipts(pool);
    expect(aside).toMatchObject({ account_id: scope.accountId });
    expect(fatal).toMatchObject([{ receipts: [aside?.receipt_id] }]);
    expect(await invoicesOf({ pool, key }, scope).catch(({ code }) => code)).toBe('not_found');
    expect(await auditFaults()).toEqual([]);
    expect(await decideUnsealed(pool, own, 'forget')).toBe(1);
    expect(await unsealedReceipts(pool)).toEqual([]);
  });

  test('cannot alter one that is in the log: the audit names it, and so does the customer’s verifier', async () => {
    await append();
    const { rows } = await pool.query<{ payload: string; invoice_id: string }>(
      'select payload, invoice_id from signed_invoices join log_documents on document_id = invoice_id where account_id = $1',
      [scope.accountId],
    );
    const [{ payload, invoice_id: id } = { payload: '', invoice_id: '' }] = rows;
    await pool.query('update log_documents set payload = $2 where document_id = $1', [id, payload.replace('"sequence":1', '"sequence":2')]);
    expect(await auditFaults()).toContain(`the digest of invoice ${id} is not that of its text`);
    expect((await found()).join()).toContain('invoice.digest is');
    await pool.query('update log_documents set payload = $2 where document_id = $1', [id, payload]);
    await pool.query('delete from receipt_log_stops');
  });
});
