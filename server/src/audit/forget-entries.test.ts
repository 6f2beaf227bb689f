import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { forgetEntries } from './forget-entries.ts';
import { makeAuditMonths } from './months.ts';
import { recordAudit } from './record-audit.ts';

let db: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool({ url: db.url, log: silentLog(), poolSize: 2 });
});
afterAll(async () => {
  await pool?.end();
  await db?.drop();
});

const count = async (): Promise<number> => (await pool.query('select from audit_log')).rowCount ?? 0;

test('deletes the entries from before a time, however many, and no others; by hand none can be deleted', async () => {
  const OLD = '0199a3c0';
  await pool.query(
    `insert into audit_log (id, actor_kind, action, target_kind, target_id, changes)
     select ('${OLD}-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'system', 'key.created', 'key', 'k', '{}' from generate_series(1, 5001) n`,
  );
  await recordAudit(pool, {
    accountId: null,
    actor: { kind: 'system', id: null },
    action: 'key.created',
    target: { kind: 'key', id: 'k' },
  });
  const oldAt = Number.parseInt(`${OLD}0000`, 16);
  expect(await forgetEntries(pool, new Date(oldAt))).toBe(0);
  expect(await forgetEntries(pool, new Date(oldAt + 1))).toBe(5_001);
  expect(await count()).toBe(1);
  for (const refused of ['delete from audit_log', "update audit_log set action = 'x'", 'truncate audit_log'])
    await expect(pool.query(refused)).rejects.toThrow('audit_log only grows');
});

/** One every six hours, with their month in `target_id`. */
const fill = (from: string, to: string) =>
  pool.query(
    `insert into audit_log (id, actor_kind, action, target_kind, target_id, changes)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid, 'system', 'key.created', 'key',
       to_char(at at time zone 'UTC', 'YYYY-MM'), '{}'
     from generate_series($1::timestamptz, $2::timestamptz - interval '6 hours', interval '6 hours') at`,
    [from, to],
  );

const placesOf = async (): Promise<string[]> => {
  const { rows } = await pool.query(
    "select distinct tableoid::regclass || ' ' || target_id as place from audit_log where target_id like '20%'",
  );
  return rows.map(({ place }) => place).toSorted();
};

test('drops whole months with their partitions, and deletes what came before its month had one', async () => {
  await fill('2025-01-31T00:00:00Z', '2025-02-01T00:00:00Z');
  await makeAuditMonths(pool, Date.parse('2025-01-31T23:59:59Z'));
  await fill('2025-02-01T00:00:00Z', '2025-03-03T00:00:00Z');
  await makeAuditMonths(pool, Date.parse('2025-03-02T00:00:00Z'));
  expect(await placesOf()).toEqual(['audit_log_2025_02 2025-02', 'audit_log_of_no_month 2025-01', 'audit_log_of_no_month 2025-03']);
  for (const emptied of ['audit_log_2025_02', 'audit_log_of_no_month'])
    await expect(pool.query(`truncate ${emptied}`)).rejects.toThrow('audit_log only grows');
  await expect(pool.query('delete from audit_log_2025_02')).rejects.toThrow('audit_log only grows');
  expect(await forgetEntries(pool, new Date('2025-03-01T00:00:00Z'))).toBe(4 + 28 * 4);
  expect(await placesOf()).toEqual(['audit_log_of_no_month 2025-03']);
  expect((await pool.query("select to_regclass('audit_log_2025_02') as there, to_regclass('audit_log_2025_04') as next")).rows).toEqual([
    { there: null, next: 'audit_log_2025_04' },
  ]);
  expect(await forgetEntries(pool, new Date('2025-04-01T00:00:00Z'))).toBe(2 * 4);
});

test('continues at the next run where it was aborted', async () => {
  const before = new Date(Date.now() + 60_000);
  expect(await forgetEntries(pool, before, AbortSignal.abort())).toBe(0);
  expect(await forgetEntries(pool, before)).toBe(1);
});
