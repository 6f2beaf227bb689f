import { contract, InvoiceList, InvoiceResponse } from '@tallygate/contract';
import { verifyInvoice } from '@tallygate/receipts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoiceRoutes, issueInvoice, newSigningSeed, publishSigningKeys, signingKeyFromSeed } from '../../receipts/index.ts';
import { storedKeySet } from '../../receipts/signing-keys.ts';
import { declarePrice, keptInMemory, type ReceiptWish, storeReceipts } from '../../receipts/testing/receipts.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

const MONTHS = ['2026-09', '2026-10', '2026-11'] as const;
const ISSUED = Date.parse('2026-12-01T01:00:00Z');
const key = signingKeyFromSeed(newSigningSeed());
const logKey = signingKeyFromSeed(newSigningSeed());
const quota = { requests: 10, tokens: null, images: 0, audio_seconds: 0, video_seconds: 0 };

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
/** What receipts say that are charged. */
let priced: Partial<ReceiptWish>;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  await publishSigningKeys(pool, [key], Date.parse('2026-01-01T00:00:00Z'));
  priced = await declarePrice({ pool, own: { receipt: [key], checkpoint: [logKey] }, kept: keptInMemory() });
  api = await startInstance(db.database, db.url, { endpoints: endpointsOf(contract.invoices, invoiceRoutes({ pool, key })) });
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

testCredentials(() => ({ api, database: db.database }), contract.invoices);

/** An account with invoices of three months in each mode. */
async function invoiced() {
  const account = await signUp(api);
  const { pool } = db.database;
  for (const livemode of [true, false])
    for (const month of MONTHS) {
      const completedAt = Date.parse(`${month}-02T10:00:00Z`);
      await storeReceipts(pool, key, [{ account_id: account.accountId, livemode, completedAt, ...priced }]);
      const deps = { clock: { now: () => ISSUED }, sealKey: Buffer.alloc(32), quotaOf: () => quota };
      await issueInvoice(pool, { accountId: account.accountId, livemode }, month, deps);
    }
  return account;
}

test('an account reads its own invoices, newest first, page by page, each whole and signed', async () => {
  const { auth } = await invoiced();
  const first = await send(api, '/v1/invoices?limit=2', { headers: auth });
  const page = InvoiceList.parse(first.body);
  expect(page.data.map(({ month, total_usd }) => `${month} ${total_usd}`)).toEqual(['2026-11 0.000000001', '2026-10 0.000000001']);
  const second = InvoiceList.parse((await send(api, `/v1/invoices?limit=2&cursor=${page.next_cursor}`, { headers: auth })).body);
  expect([page.has_more, second.has_more, second.data.map(({ month }) => month)]).toEqual([true, false, ['2026-09']]);
  const whole = await send(api, '/v1/invoices/2026-11', { headers: auth });
  expect(InvoiceResponse.parse(whole.body)).toEqual(whole.body);
  expect(verifyInvoice(whole.body, await storedKeySet(db.database.pool))).toMatchObject({ valid: true, checks: { log: 'pending' } });
});

test('live and test invoices are apart, by the mode of the key or as asked', async () => {
  const { auth } = await invoiced();
  const modeOf = async (path: string, headers: Record<string, string>) => (await send(api, path, { headers })).body.payload.livemode;
  const test = await newKey(api, auth, { livemode: false });
  expect(await modeOf('/v1/invoices/2026-11', test.auth)).toBe(false);
  expect(await modeOf('/v1/invoices/2026-11?livemode=false', auth)).toBe(false);
  expect(await modeOf('/v1/invoices/2026-11', auth)).toBe(true);
});

test('another account’s invoices are answered as if there were none', async () => {
  await invoiced();
  const other = await signUp(api);
  const listed = await send(api, '/v1/invoices', { headers: other.auth });
  expect(InvoiceList.parse(listed.body).data).toEqual([]);
  expect(await send(api, '/v1/invoices/2026-11', { headers: other.auth })).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('a month that is none is refused, and one without an invoice is not there', async () => {
  const { auth } = await invoiced();
  expect(await send(api, '/v1/invoices/2026-13', { headers: auth })).toMatchObject({ status: 422 });
  expect(await send(api, '/v1/invoices/2026-08', { headers: auth })).toMatchObject({ status: 404, body: { code: 'not_found' } });
});
