import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { testDatabase } from '../postgres/test-database.ts';
import type { RunningTimers, Timer, TimerRun } from './port.ts';
import { startTimers } from './postgres-timers.ts';

const LOOK_MS = 20;
const LEASE_MS = 1_000;
const HOUR_MS = 3_600_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: pg.Pool;
const running: RunningTimers[] = [];
let names = 0;

beforeAll(async () => {
  database = await testDatabase();
  pool = new pg.Pool({ connectionString: database.url });
  await pool.query('create table test_work (kind text primary key, due_at timestamptz not null)');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
  await pool.query('delete from test_work');
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const freshName = () => `test-timer-${++names}`;

/** One more gateway on the database. */
function gateway(timers: readonly Timer[], { now = () => Date.now(), leaseMs = LEASE_MS, over = pool } = {}) {
  const runs: TimerRun[] = [];
  const onRun = (run: TimerRun) => void runs.push(run);
  const one = startTimers({ timers, pool: over, clock: { now }, log: silentLog(), onRun, lookMs: LOOK_MS, leaseMs });
  running.push(one);
  return { runs, close: () => one.close() };
}

const dueOf = (kind: string) => `exists (select from test_work where kind = '${kind}' and due_at <= present)`;
const put = (kind: string, dueAt = new Date(0)) => pool.query('insert into test_work values ($1, $2)', [kind, dueAt]);
const take = (kind: string) => pool.query('delete from test_work where kind = $1', [kind]);

test('what recurs runs once an interval, on all gateways together', async () => {
  const [often, seldom] = [freshName(), freshName()];
  const timers = [often, seldom].map((name) => ({ name, everyMs: name === often ? 50 : HOUR_MS, run: async () => {} }));
  const gateways = [gateway(timers), gateway(timers), gateway(timers)];
  const runsOf = (name: string) => gateways.flatMap(({ runs }) => runs).filter(({ timer }) => timer === name).length;
  const started = performance.now();
  await expect.poll(() => runsOf(often)).toBeGreaterThanOrEqual(6);
  expect(performance.now() - started).toBeGreaterThanOrEqual(5 * 50);
  expect(runsOf(seldom)).toBe(1);
});

test('a gateway that starts again goes on with the interval, and does not begin it', async () => {
  const timer = { name: freshName(), everyMs: HOUR_MS, run: vi.fn(async () => {}) };
  const first = gateway([timer]);
  await expect.poll(() => first.runs.length).toBe(1);
  await first.close();
  gateway([timer, { name: freshName(), everyMs: 10, run: async () => {} }]);
  await delay(5 * LOOK_MS);
  expect(timer.run).toHaveBeenCalledTimes(1);
});

test('what is due runs, by the clock of the gateway, until nothing is due, and never twice at a time', async () => {
  const name = freshName();
  let now = 1_000;
  let atOnce = 0;
  const run = vi.fn(async () => {
    expect(++atOnce).toBe(1);
    await delay(2 * LOOK_MS);
    await take(name);
    atOnce -= 1;
  });
  const timer = { name, due: dueOf(name), run };
  gateway([timer], { now: () => now });
  gateway([timer], { now: () => now });
  await put(name, new Date(5_000));
  await delay(5 * LOOK_MS);
  expect(run).not.toHaveBeenCalled();
  now = 5_000;
  await expect.poll(() => run.mock.calls.length).toBe(1);
  await delay(10 * LOOK_MS);
  expect(run).toHaveBeenCalledTimes(1);
  await put(name);
  await expect.poll(() => run.mock.calls.length).toBe(2);
});

test('what another gateway has done since it was looked up is not begun again', async () => {
  const name = freshName();
  const run = vi.fn(() => take(name).then(() => {}));
  const looked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = new pg.Pool({ connectionString: database.url });
  const query = slow.query.bind(slow);
  const value = async (asked: string | pg.QueryConfig, values?: unknown[]) => {
    const found = await query(asked, values);
    if (typeof asked !== 'string' && asked.name === 'timers-due' && found.rows.length > 0) {
      looked.resolve();
      await goOn.promise;
    }
    return found;
  };
  Object.defineProperty(slow, 'query', { value });
  await put(name);
  const late = gateway([{ name, due: dueOf(name), run }], { over: slow });
  await looked.promise;
  const first = gateway([{ name, due: dueOf(name), run }]);
  await expect.poll(() => first.runs.length).toBe(1);
  await expect
    .poll(async () => (await pool.query('select 1 from timers where name = $1 and leased_until <= now()', [name])).rowCount)
    .toBe(1);
  goOn.resolve();
  await delay(5 * LOOK_MS);
  expect(run).toHaveBeenCalledTimes(1);
  await late.close();
  await slow.end();
});

test('of what locks its rows itself each gateway runs as many at a time as it may', async () => {
  const name = freshName();
  const gate = Promise.withResolvers<void>();
  let atOnce = 0;
  const run = async () => {
    atOnce += 1;
    await gate.promise;
  };
  await put(name);
  gateway([{ name, due: dueOf(name), atOnce: 3, run }]);
  await expect.poll(() => atOnce).toBe(3);
  await delay(5 * LOOK_MS);
  expect(atOnce).toBe(3);
  await take(name);
  gate.resolve();
});

test('a run that outlasts its lease keeps it, and no other gateway begins one beside it', async () => {
  const timer = { name: freshName(), everyMs: 10, run: vi.fn(() => delay(3 * LEASE_MS)) };
  const [a, b] = [gateway([timer]), gateway([timer])];
  await expect.poll(() => a.runs.length + b.runs.length).toBe(1);
  expect(timer.run.mock.calls.length).toBeLessThanOrEqual(2);
});

test('what a dead gateway was running is run by another one, and the dead one is told should it come back', async () => {
  const name = freshName();
  let isAborted = () => false;
  const begun = Promise.withResolvers<void>();
  gateway([
    {
      name,
      everyMs: HOUR_MS,
      run: async ({ signal }) => {
        isAborted = () => signal.aborted;
        begun.resolve();
        await once(signal, 'abort');
      },
    },
  ]);
  await begun.promise;
  // As after a long stop of the whole process: nobody has renewed it.
  await pool.query("update timers set leased_until = '-infinity' where name = $1", [name]);
  const other = gateway([{ name, everyMs: HOUR_MS, run: async () => {} }]);
  await expect.poll(() => other.runs.length).toBe(1);
  await expect.poll(isAborted).toBe(true);
});

test('a failed run is tried again, later each time, and counted as such', async () => {
  const name = freshName();
  await put(name);
  const run = vi.fn(() => Promise.reject(new Error('not today')));
  const { runs } = gateway([{ name, due: dueOf(name), run }]);
  await expect.poll(() => runs).toEqual([{ timer: name, outcome: 'retried' }]);
  await delay(10 * LOOK_MS);
  expect(run).toHaveBeenCalledTimes(1);
  await expect.poll(() => run.mock.calls.length).toBe(2);
});

test('close tells running ones to end, waits for them, and leaves what they ran to others at once', async () => {
  const name = freshName();
  const begun = Promise.withResolvers<void>();
  let isDone = false;
  const first = gateway([
    {
      name,
      everyMs: 1,
      run: async ({ signal }) => {
        begun.resolve();
        await once(signal, 'abort');
        await delay(50);
        isDone = true;
      },
    },
  ]);
  await begun.promise;
  await first.close();
  expect(isDone).toBe(true);
  const second = gateway([{ name, everyMs: 1, run: async () => {} }], { leaseMs: HOUR_MS });
  await expect.poll(() => second.runs.length).toBeGreaterThan(0);
});

test('a database that is away for a while is asked again', async () => {
  const name = freshName();
  const query = vi.spyOn(pool, 'query').mockRejectedValue(new Error('connection refused') as never);
  const { runs } = gateway([{ name, everyMs: 10, run: async () => {} }]);
  await expect.poll(() => query.mock.calls.length).toBeGreaterThan(2);
  expect(runs).toEqual([]);
  query.mockRestore();
  await expect.poll(() => runs.length).toBeGreaterThan(0);
});
