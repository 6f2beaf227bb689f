import { expect, test } from 'vitest';
import { openPool } from '../../adapters/postgres/database.ts';
import { testDatabase } from '../../adapters/postgres/test-database.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLog } from '../../kernel/log.ts';
import { forgetWindows } from './forget-windows.ts';
import { laneId } from './lane-ids.ts';

const accountId = newId();
const lane = (period: string, start: string | null, subject: string) =>
  laneId.limit({ accountId, livemode: true, period, start: start === null ? null : Date.parse(start), kind: 'end_user', subject });

test('deletes lanes of windows that ended before a time, however many, and keeps every other one', async () => {
  const database = await testDatabase();
  const pool = openPool({ url: database.url, log: silentLog(), poolSize: 2 });
  const kept = [
    lane('lifetime', null, 'u'),
    lane('lifetime', null, 'limit:a:live:day@20200101T0000Z:tag:b'),
    lane('month', '2025-12-31T23:00:00Z', 'u'),
    lane('day', '2026-02-01T00:00:00Z', 'u'),
  ];
  const ended = [lane('month', '2025-12-01T00:00:00Z', 'u'), lane('hour', '2025-12-30T22:15:00Z', 'u@b:c')];
  const many = Array.from({ length: 5_001 }, (_, index) => lane('day', '2025-11-05T23:00:00Z', `u${index}`));
  await pool.query('insert into lane_spend (lane_id, spent_nano) select lane_id, 1 from unnest($1::text[]) as lane_id', [
    [...kept, ...ended, ...many],
  ]);
  expect(await forgetWindows(pool, new Date('2026-02-01T00:00:00Z'))).toBe(ended.length + many.length);
  const { rows } = await pool.query('select lane_id from lane_spend');
  expect(rows.map(({ lane_id }) => lane_id).toSorted()).toEqual(kept.toSorted());
  await pool.end();
  await database.drop();
});
