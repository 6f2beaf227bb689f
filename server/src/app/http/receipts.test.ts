import { contract } from '@tallygate/contract';
import {
  auditGrowth,
  checkTlogProof,
  type ExportedReceipt,
  type ExportSummary,
  entriesPath,
  fromVerifierKey,
  leafHash,
  rangesFromTiles,
  type Tile,
  tilePath,
  verifyCheckpoint,
  verifyExport,
  verifyReceipt,
} from '@tallygate/receipts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seenBy } from '../../access/projects/index.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { silentLog } from '../../kernel/log.ts';
import { appendAll, newSigningSeed, publishedKeySet, publishSigningKeys, receiptRoutes, signingKeyFromSeed } from '../../receipts/index.ts';
import { keptInMemory, storeReceipts } from '../../receipts/testing/receipts.ts';
import { testCredentials } from './credential-matrix.ts';
import { endpointsOf } from './endpoint.ts';
import { logRoutes } from './log-api.ts';
import { type Instance, newKey, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { type FrontUnderTest, openFrontUnderTest } from './testing/front.ts';

const NOVEMBER = Date.parse('2026-11-21T10:00:00Z');
const OCTOBER = Date.parse('2026-10-31T23:59:59.999Z');
const clock = { now: () => NOVEMBER };
const [key, logKey] = [signingKeyFromSeed(newSigningSeed()), signingKeyFromSeed(newSigningSeed())];

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let front: FrontUnderTest;
let filesUrl: string;

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  await publishSigningKeys(pool, [key], OCTOBER);
  await publishSigningKeys(pool, [logKey], OCTOBER, 'checkpoint');
  const keySet = () => publishedKeySet(pool, { receipt: [key], checkpoint: [logKey] });
  api = await startInstance(db.database, db.url, {
    endpoints: endpointsOf(
      contract.receipts,
      receiptRoutes({ pool, archive: emptyArchive(pool), key, keySet, requirePlan: async () => {}, seenBy: seenBy(pool) }),
    ),
  });
  front = await openFrontUnderTest(
    () =>
      logRoutes({
        requirePlan: async () => {},
        seenBy: seenBy(pool),
        ...{ pool, archive: emptyArchive(pool), key, clock, idleTimeoutMs: 5_000, keySet, isAnchoring: false, log: silentLog() },
      }),
    { authenticator: api.authenticator },
  );
  filesUrl = front.url;
});
afterAll(async () => {
  front?.close();
  await api?.close();
  await db?.close();
});

// The others ask for no credential.
testCredentials(() => ({ api, database: db.database }), { listReceipts: contract.receipts.listReceipts });

const append = () =>
  appendAll({ pool: db.database.pool, keys: [logKey], kept: keptInMemory(), clock, log: silentLog() }, new AbortController().signal);
const settle = (account_id: string, wishes: readonly object[]) =>
  storeReceipts(
    db.database.pool,
    logKey,
    wishes.map((wish) => ({ completedAt: NOVEMBER, account_id, ...wish })),
  );
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => fetch(`${filesUrl}${path}`, { headers, method });
const publicKeys = async () => (await send(api, '/.well-known/vaas-keys.json')).body;
const readTile = async (tile: Tile) => new Uint8Array(await (await get(`/v1/log/${tilePath(tile)}`)).arrayBuffer());

async function checkpoint() {
  const { text } = await sendText('/v1/log/checkpoint');
  const verified = verifyCheckpoint(text, await publicKeys());
  if (!verified.valid) throw new Error(verified.reason);
  return verified.checkpoint;
}
const sendText = async (path: string) => {
  const response = await fetch(`${api.baseUrl}${path}`);
  return { status: response.status, text: await response.text() };
};

async function read(text: string, accountId?: string): Promise<{ found: ExportedReceipt[]; summary: ExportSummary }> {
  const found: ExportedReceipt[] = [];
  const reading = verifyExport(text.split('\n'), await publicKeys(), accountId === undefined ? {} : { accountId });
  for (;;) {
    const { value, done } = await reading.next();
    if (done) return { found, summary: value };
    found.push(value);
  }
}

describe('the list of receipts', () => {
  test('has the account’s own, newest request first, page by page and filtered', async () => {
    const { auth, accountId } = await signUp(api);
    const other = await signUp(api);
    await settle(other.accountId, [{}]);
    const usage = await settle(
      accountId,
      Array.from({ length: 5 }, (_, at) => ({ completedAt: NOVEMBER + at, model_served: `m${at % 2}` })),
    );
    const [early = ''] = await settle(accountId, [{ completedAt: OCTOBER, run_id: 'nightly-42' }]);
    const [refund = ''] = await settle(accountId, [
      { kind: 'refund', outcome: 'refunded', refund_of: early, refund_reason: 'why', started_at: new Date(OCTOBER).toISOString() },
    ]);
    const list = async (query: string) => (await send(api, `/v1/receipts${query}`, { headers: auth })).body;
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

    const everything = await list('');
    expect(idsOf(everything).slice(0, 5)).toEqual(usage.toReversed());
    expect(idsOf(everything)).toHaveLength(7);
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      paged.push(...idsOf(page));
      if (!page.has_more) break;
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(idsOf(everything));
    // A refund of October's request belongs to October, at any time.
    expect(idsOf(await list('?month=2026-10')).sort()).toEqual([early, refund].sort());
    expect(idsOf(await list('?kind=refund'))).toEqual([refund]);
    expect(idsOf(await list('?model=m1'))).toHaveLength(2);
    expect(idsOf(await list('?run_id=nightly-42'))).toEqual([early]);
    expect(idsOf(await list('?livemode=false'))).toEqual([]);
    expect(everything.data.at(-1)).toMatchObject({ cost_usd: '0', log_index: null, livemode: true });
  });

  test('follows the log: every later entry once, in log order, independent of request times', async () => {
    const { accountId, auth } = await signUp(api);
    const { accountId: stranger } = await signUp(api);
    const follow = async (query: string) => (await send(api, `/v1/receipts?${query}`, { headers: auth })).body;
    await settle(accountId, [{ model_served: 'm1' }]);
    await append();
    const [, size = ''] = (await (await fetch(`${api.baseUrl}/v1/log/checkpoint`)).text()).split('\n');
    const now = Number(size) - 1;
    expect((await follow(`logged_after=${now}`)).data).toEqual([]);
    // The second began long before the first; a third is another account's, and a fourth not in the log yet.
    await settle(accountId, [{ model_served: 'm2' }]);
    await settle(stranger, [{}]);
    await append();
    await settle(accountId, [{ model_served: 'm3', completedAt: OCTOBER }]);
    await append();
    await settle(accountId, [{ model_served: 'm4' }]);
    const { data } = await follow(`logged_after=${now}`);
    expect(data.map(({ model }: { model: string }) => model)).toEqual(['m2', 'm3']);
    expect((await follow(`logged_after=${data[0].log_index}`)).data).toEqual([data[1]]);
    const first = await follow(`logged_after=${now}&limit=1`);
    expect([first.has_more, (await follow(`logged_after=${now}&limit=1&cursor=${first.next_cursor}`)).data]).toEqual([true, [data[1]]]);
    expect((await follow(`logged_after=${now}&key_id=019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77`)).data).toEqual([]);
  });

  test('shows a test key those of test mode, and refuses a cursor of another list', async () => {
    const { auth, accountId } = await signUp(api);
    await settle(accountId, [{}]);
    const [tested = ''] = await settle(accountId, [{ livemode: false }]);
    const { auth: byKey } = await newKey(api, auth, { livemode: false });
    const { body } = await send(api, '/v1/receipts', { headers: byKey });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([tested]);
    const { next_cursor: elsewhere } = (await send(api, '/v1/audit-log?limit=1', { headers: auth })).body;
    for (const query of [`cursor=${elsewhere}`, 'month=2026-13', 'limit=201', 'kind=gift', 'cursor=x', 'model=%00', 'run_id=a%00'])
      expect(await send(api, `/v1/receipts?${query}`, { headers: byKey })).toMatchObject({ status: 422 });
  });
});

describe('an export', () => {
  test('verifies as one file: every receipt of the month with its proof, and their sum', async () => {
    const { auth, accountId } = await signUp(api);
    await settle(
      accountId,
      Array.from({ length: 1_203 }, (_, at) => ({ completedAt: NOVEMBER + at })),
    );
    await settle(accountId, [{ completedAt: OCTOBER }, { livemode: false }]);
    await append();
    const [late = ''] = await settle(accountId, [{ completedAt: NOVEMBER + 5_000 }]);
    const response = await get('/v1/receipts/export?month=2026-11', auth);
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    const text = await response.text();
    const some = text.split('\n').filter((_, at) => at < 40 || at > 1_190);
    const { found, summary } = await read(some.join('\n'), accountId);
    expect(found.every(({ verdict }) => verdict.valid)).toBe(true);
    // Lines were left out to save time: that is noticed, and nothing else.
    expect(summary.faults.map(({ code }) => code)).toEqual(['incomplete_export', 'missing_receipts']);
    expect(text.split('\n').at(-2)).toBe('{"object":"receipt_export.end","receipts":1204,"logged":1203}');
    expect(text).toContain(late);
  });

  test('of a month without receipts is whole and empty', async () => {
    const { auth } = await signUp(api);
    const { summary } = await read(await (await get('/v1/receipts/export?month=2026-11&livemode=false', auth)).text());
    expect(summary).toMatchObject({ receipts: 0, billed_nano_usd: '0', faults: [] });
  });

  test('is for the account alone, and for a month', async () => {
    const { auth } = await signUp(api);
    expect((await get('/v1/receipts/export?month=2026-11')).status).toBe(401);
    const { auth: byKey } = await newKey(api, auth, { scopes: ['inference'] });
    expect((await get('/v1/receipts/export?month=2026-11', byKey)).status).toBe(403);
    for (const query of ['', '?month=11-2026', '?month=2026-11&livemode=maybe'])
      expect(await (await get(`/v1/receipts/export${query}`, auth)).json()).toMatchObject({ status: 422, code: 'validation_failed' });
    expect((await get('/v1/receipts/export?month=2026-11', auth, 'HEAD')).status).toBe(200);
  });
});

describe('the tiles', () => {
  test('are enough for every proof, and never change', async () => {
    const { accountId } = await signUp(api);
    const [first = ''] = await settle(
      accountId,
      Array.from({ length: 300 }, () => ({})),
    );
    await append();
    const { size, root, origin } = await checkpoint();
    expect(await auditGrowth({ to: { size, root }, readTile })).toBe('ok');
    expect(await rangesFromTiles([{ start: 0, end: size }], size, readTile)).toEqual([root]);

    const whole = await get('/v1/log/tile/0/000');
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '8192',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const partial = Buffer.from(await (await get('/v1/log/tile/0/000.p/7')).arrayBuffer());
    expect(
      Buffer.from(await whole.arrayBuffer())
        .subarray(0, 224)
        .equals(partial),
    ).toBe(true);
    expect((await get('/v1/log/tile/0/000', {}, 'HEAD')).headers.get('content-length')).toBe('8192');

    const { body: receipt } = await send(api, `/v1/receipts/${first}`);
    const place: number = receipt.log.index;
    const tile = { index: Math.floor(place / 256), width: Math.min(256, size - Math.floor(place / 256) * 256) };
    const bundle = Buffer.from(await (await get(`/v1/log/${entriesPath(tile)}`)).arrayBuffer());
    const entries = Array.from({ length: tile.width }, (_, at) => bundle.subarray(at * 34 + 2, at * 34 + 34));
    expect(bundle).toHaveLength(tile.width * 34);
    expect(bundle.readUInt16BE(34)).toBe(32);
    expect(entries[place % 256]?.toString('hex')).toBe(receipt.digest);
    expect(Buffer.concat(entries.map((entry) => leafHash(entry)))).toEqual(Buffer.from(await readTile({ level: 0, ...tile })));
    expect(verifyReceipt(receipt, await publicKeys())).toMatchObject({
      valid: true,
      checks: { log: 'ok' },
      logged: { origin, tree_size: size },
    });
    const { text: proof } = await sendText(`/v1/receipts/${first}/proof`);
    const { keys } = await publicKeys();
    const known = keys.flatMap((one: { verifier_key?: string }) => (one.verifier_key ? (fromVerifierKey(one.verifier_key) ?? []) : []));
    const entry = new TextEncoder().encode('someone else’s entry');
    expect(checkTlogProof(proof, entry, { origin, keys: known })).toBe('not_included');
  });

  test.each(['0/999', '0/000.p/256', '63/000', '64/000', '0/0', '0/x000/000', '0/..%2f000', 'entries/999', 'entries/0', '0/', ''])(
    'are not found under %s',
    async (path) => {
      const response = await get(`/v1/log/tile/${path}`);
      expect(await response.json()).toMatchObject({ status: 404, code: 'not_found' });
      expect(response.headers.get('cache-control')).not.toContain('immutable');
    },
  );
});
