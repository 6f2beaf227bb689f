import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { silentLog } from '../kernel/log.ts';
import { forgetEntries } from './forget-entries.ts';
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

test('continues at the next run where it was aborted', async () => {
  const before = new Date(Date.now() + 60_000);
  expect(await forgetEntries(pool, before, AbortSignal.abort())).toBe(0);
  expect(await forgetEntries(pool, before)).toBe(1);
});
