import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seenBy } from '../../access/projects/index.ts';
import { emptyArchive } from '../../archive/testing/archives.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { createBudgets } from '../../money/budgets/index.ts';
import { ledgerRoutes, usageRoutes } from '../../money/ledger/index.ts';
import { LedgerWriter } from '../../money/ledger/ledger-writer.ts';
import { MemoryFeed, sampleEntry, sampleRecord } from '../../money/ledger/sample-records.ts';
import { testPages } from '../../money/ledger/testing/pages.ts';
import { runRoutes } from '../../money/runs/routes.ts';
import { RunQueries } from '../../money/runs/run-queries.ts';
import { receiptRoutes } from '../../receipts/index.ts';
import { openLive } from '../live.ts';
import { endpointsOf } from './endpoint.ts';
import { logRoutes } from './log-api.ts';
import { type Instance, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';
import { usageTransferRoutes } from './usage-transfer-api.ts';

const ROLES = ['owner', 'admin', 'billing', 'viewer', 'developer'] as const;
type AccountRole = (typeof ROLES)[number];
const clock = { now: () => Date.parse('2026-11-21T12:00:00Z') };
const NOVEMBER = 'from=2026-11-01&to=2026-11-30';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
const people = new Map<AccountRole, Record<string, string>>();
/** Each costs a digit of its own: what the developer spends, what is spent in their project, and two that are others'. */
let records: ReturnType<typeof sampleRecord>[];

beforeAll(async () => {
  db = await openTestDatabase();
  const { pool } = db.database;
  const archive = emptyArchive(pool);
  const read = { pool, archive, clock, log: silentLog() };
  const forReaders = { requirePlan: async () => {}, seenBy: seenBy(pool) };
  const queries = new RunQueries(pool);
  const none = {} as never;
  const lanes = { inspect: async () => new Map() };
  const budgets = createBudgets({ pool, keys: { list: async () => [], get: none, change: none }, lanes, clock });
  const keySet = async () => ({ keys: [] });
  const log = { ...read, ...forReaders, keySet, isAnchoring: false, key: none, idleTimeoutMs: 5_000 };
  api = await startInstance(db.database, db.url, {
    endpoints: [
      ...endpointsOf(contract.ledger, ledgerRoutes({ ...read, refunds: none, corrections: none })),
      ...endpointsOf(contract.usage, usageRoutes(read)),
      ...endpointsOf(contract.receipts, receiptRoutes({ ...read, ...forReaders, key: none, keySet })),
      ...endpointsOf(
        contract.runs,
        runRoutes({
          directory: none,
          store: none,
          queries,
          lanes,
          write: async () => {},
          clock,
          ...forReaders,
        }),
      ),
      ...openLive({ foundation: read, budgets, runs: queries, requirePlan: forReaders.requirePlan }).endpoints,
    ],
    routesOver: () => [...usageTransferRoutes({ ...read, limits: { idleTimeoutMs: 5_000, timeoutMs: 60_000 } }), ...logRoutes(log)],
  });
  await settle();
});
afterAll(async () => {
  await api?.close();
  await db?.close();
});

async function settle(): Promise<void> {
  const { pool } = db.database;
  const owner = await signUp(api);
  const { accountId } = owner;
  for (const role of ROLES) {
    const person = await signUp(api);
    await pool.query('update users set account_id = $2, account_role = $3 where id = $1', [person.userId, accountId, role]);
    people.set(role, person.auth);
    if (role === 'developer') await share(person.userId, owner.userId, accountId);
  }
}

/** What there is in the account, of which the developer sees a part. */
async function share(developer: string, other: string, accountId: string): Promise<void> {
  const { pool } = db.database;
  const [ours, theirs] = [newId(), newId()];
  for (const id of [ours, theirs])
    await pool.query(`insert into projects (id, account_id, name, created_at) values ($1, $2, 'Search', now())`, [id, accountId]);
  await pool.query(`insert into project_members values ($1, $2, 'member', now())`, [ours, developer]);
  const whose = [{ userId: developer }, { userId: other, projectId: ours }, { userId: other }, { userId: other, projectId: theirs }];
  records = whose.map((wish, at) =>
    sampleRecord({
      accountId,
      cost: String(7 * 10 ** at),
      runId: `run-${at}`,
      tags: ['feature=search'],
      startedAt: clock.now() - 3_600_000 * at,
      ...wish,
    }),
  );
  for (const { runId } of records)
    await pool.query(
      `insert into agent_run_bounds (account_id, livemode, run_id, ancestor_run_ids, calls, begun_at) values ($1, true, $2, '{}', 1, now())`,
      [accountId, runId],
    );
  const onQuarantine = (_entry: unknown, error: unknown) => {
    throw error;
  };
  const feed = new MemoryFeed(records.map((record) => sampleEntry(record)));
  await new LedgerWriter({ feed, pool, archive: emptyArchive(pool), pages: testPages, log: silentLog(), onQuarantine }).drain();
}

const get = (role: AccountRole, path: string) => send(api, path, { headers: people.get(role) ?? {} });
const text = async (role: AccountRole, path: string) => (await fetch(api.baseUrl + path, { headers: people.get(role) ?? {} })).text();
const seenIn = (role: AccountRole) => (role === 'developer' ? records.slice(0, 2) : records);
const costOf = (role: AccountRole) => (role === 'developer' ? '0.000000077' : '0.000007777');
const named = (things: readonly { run_id: string }[]) => things.map(({ run_id }) => run_id).toSorted();

describe.each(ROLES)('the %s of an account', (role) => {
  test.each(['', '&group_by=model', '&group_by=project', '&group_by=tag', '&group_by=run', '&per=hour', '&group_by=end_user,tag'])(
    'sees usage of what is theirs to see: %s',
    async (query) => {
      const { body } = await get(role, `/v1/usage?${NOVEMBER}${query}`);
      expect(body.total).toMatchObject({ cost_usd: costOf(role), requests: seenIn(role).length });
    },
  );

  test('exports the same usage, as CSV and as a FOCUS dataset', async () => {
    const csv = await text(role, `/v1/usage/export?${NOVEMBER}&group_by=run`);
    const focus = await text(role, `/v1/usage/export?${NOVEMBER}&format=focus`);
    expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + seenIn(role).length);
    for (const { projectId } of records)
      if (projectId) expect(focus.includes(projectId)).toBe(seenIn(role).some((one) => one.projectId === projectId));
  });

  test('reads the traces and the receipts of these requests', async () => {
    for (const record of records) {
      const { status } = await get(role, `/v1/requests/${record.requestId}`);
      expect(status).toBe(seenIn(role).includes(record) ? 200 : 404);
    }
    const { body } = await get(role, '/v1/receipts');
    expect(named(body.data)).toEqual(named(seenIn(role).map(({ runId }) => ({ run_id: String(runId) }))));
    const whole = await fetch(`${api.baseUrl}/v1/receipts/export?month=2026-10`, { headers: people.get(role) ?? {} });
    expect(whole.status).toBe(role === 'developer' ? 403 : 200);
  });

  test('sees how long these requests took, and no others', async () => {
    const { body } = await get(role, '/v1/usage/latency?from=2026-11-21T00:00:00Z&to=2026-11-22T00:00:00Z');
    const counted = body.hours.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0);
    expect(counted).toBe(seenIn(role).length);
  });

  test('reads these runs, and what is spent now', async () => {
    const expected = named(seenIn(role).map(({ runId }) => ({ run_id: String(runId) })));
    expect(named((await get(role, '/v1/runs')).body.data)).toEqual(expected);
    for (const record of records) {
      const { status, body } = await get(role, `/v1/runs/${record.runId}`);
      expect([status, body.steps?.data.length]).toEqual(seenIn(role).includes(record) ? [200, 1] : [404, undefined]);
    }
    const { body: figures } = await get(role, '/v1/live');
    expect([named(figures.runs), named(figures.requests)]).toEqual([expected, expected]);
  });
});
