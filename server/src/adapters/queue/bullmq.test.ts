import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { testDatabase } from '../postgres/test-database.ts';
import { connectRedis } from '../redis/connect.ts';
import { testRedisUrl } from '../redis/test-redis.ts';
import { openJobQueue } from './bullmq.ts';
import type { Delivery, JobQueue } from './port.ts';

const RETRY = { attempts: 3, firstDelayMs: 50 };
const WORKER_TIMEOUT_MS = 1_000;
const redisUrl = testRedisUrl();

let database: Awaited<ReturnType<typeof testDatabase>>;
let queue: JobQueue;
let jobs = 0;
const opened: JobQueue[] = [];

beforeAll(async () => {
  database = await testDatabase();
});

afterAll(() => database?.drop());

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** The first `count` deliveries of a job, whose handler then goes on as told. */
function deliveries(name: string, count: number, then: (delivery: Delivery) => Promise<void> = async () => {}) {
  const seen: Delivery[] = [];
  const { promise, resolve } = Promise.withResolvers<Delivery[]>();
  const ready = queue.process(name, 4, async (delivery) => {
    seen.push(delivery);
    if (seen.length === count) resolve(seen);
    await then(delivery);
  });
  return { ready, all: promise, seen };
}

const stores = [{ name: 'PostgreSQL', redis: false }, ...(redisUrl ? [{ name: 'Redis', redis: true }] : [])];

describe.each(stores)('on $name', ({ redis }) => {
  const store = () => {
    if (!redis) return { databaseUrl: database.url };
    return { redis: connectRedis(redisUrl, silentLog(), 'patient') };
  };
  const freshName = () => `test-job-${redis ? 'redis' : 'postgres'}-${process.pid}-${++jobs}`;
  const open = async () => {
    queue = await openJobQueue({ store: store(), log: silentLog(), workerTimeoutMs: WORKER_TIMEOUT_MS });
    opened.push(queue);
  };

  /** A process with a queue of its own that runs these statements. */
  const elsewhere = (statements: string) => {
    const script = `
      import { openJobQueue } from ${JSON.stringify(new URL('./bullmq.ts', import.meta.url).href)};
      import { connectRedis } from ${JSON.stringify(new URL('../redis/connect.ts', import.meta.url).href)};
      import { pino } from 'pino';
      const store = ${redis ? `{ redis: connectRedis(${JSON.stringify(redisUrl)}, pino({ level: 'silent' }), 'patient') }` : JSON.stringify({ databaseUrl: database.url })};
      const queue = await openJobQueue({ store, log: pino({ level: 'silent' }), workerTimeoutMs: ${WORKER_TIMEOUT_MS} });
      ${statements}`;
    const args = ['--conditions=tallygate-source', '--input-type=module-typescript', '-e', script];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: new URL('.', import.meta.url) });
  };

  test('jobs that wait are counted, those that are tried again later among them', async () => {
    await open();
    const name = freshName();
    expect(await queue.waiting(name)).toBe(0);
    await queue.add(name, {}, RETRY);
    await queue.add(name, {}, RETRY, { delayMs: 60_000 });
    expect(await queue.waiting(name)).toBe(2);
    const { all } = deliveries(name, 1);
    await all;
    await expect.poll(() => queue.waiting(name)).toBe(1);
  });

  test('a job reaches the handler with its payload, also when it was added before anybody worked', async () => {
    await open();
    const name = freshName();
    await queue.add(name, { key_id: 'k1' }, RETRY);
    const { all } = deliveries(name, 1);
    expect(await all).toMatchObject([{ payload: { key_id: 'k1' }, attempt: 1, isLastAttempt: false }]);
  });

  test('a failing job is tried again, later each time, and no more often than it may', async () => {
    await open();
    const name = freshName();
    const at: number[] = [];
    const { all, ready, seen } = deliveries(name, 3, async () => {
      at.push(performance.now());
      throw new Error('not today');
    });
    await ready;
    await queue.add(name, {}, RETRY);
    expect((await all).map(({ attempt, isLastAttempt }) => [attempt, isLastAttempt])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    const [first = 0, second = 0, third = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(45);
    expect(third - second).toBeGreaterThanOrEqual(95);
    await queue.close();
    expect(seen).toHaveLength(3);
  });

  test('a delayed job waits, and a job added twice under one text runs once', async () => {
    await open();
    const name = freshName();
    const started = performance.now();
    await queue.add(name, { n: '1' }, RETRY, { delayMs: 200, once: 'same' });
    await queue.add(name, { n: '2' }, RETRY, { once: 'same' });
    const { all, seen } = deliveries(name, 1);
    await all;
    expect(performance.now() - started).toBeGreaterThanOrEqual(195);
    const addAgain = () => queue.add(name, { n: '3' }, RETRY, { once: 'same' });
    await expect.poll(() => addAgain().then(() => seen.at(-1)?.payload)).toEqual({ n: '3' });
    expect(seen.map(({ payload }) => payload)).not.toContainEqual({ n: '2' });
  });

  test('the job of a killed worker runs again elsewhere', async () => {
    await open();
    const name = freshName();
    await queue.add(name, { key_id: 'k2' }, RETRY);
    const victim = elsewhere(
      `await queue.process(${JSON.stringify(name)}, 1, () => { console.log('taken'); return new Promise(() => {}); });`,
    );
    await once(victim.stdout, 'data');
    victim.kill('SIGKILL');
    await once(victim, 'exit');
    expect(await deliveries(name, 1).all).toMatchObject([{ payload: { key_id: 'k2' } }]);
  });

  test('close waits for the job that is running', async () => {
    await open();
    const name = freshName();
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    let isDone = false;
    const { all } = deliveries(name, 1, async () => {
      await gate;
      isDone = true;
    });
    await queue.add(name, {}, RETRY);
    await all;
    const closed = queue.close();
    openGate();
    await closed;
    expect(isDone).toBe(true);
  });

  test('a process that has closed its queue ends by itself', async () => {
    const name = JSON.stringify(freshName());
    const child = elsewhere(`
      await queue.add(${name}, {}, { attempts: 1, firstDelayMs: 1 });
      const ran = Promise.withResolvers();
      await queue.process(${name}, 1, async () => ran.resolve());
      await ran.promise;
      await queue.close();`);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

test('a server that refuses connections for a while is asked again after a wait, and the worker goes on', async () => {
  const attempts: number[] = [];
  let isStarting = false;
  class StartingServer extends pg.Client {
    override connect(): Promise<void>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<void> | undefined {
      if (!isStarting) return callback ? void super.connect(callback) : super.connect();
      attempts.push(performance.now());
      const refusal = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
      return callback ? void process.nextTick(callback, refusal) : Promise.reject(refusal);
    }
  }
  queue = await openJobQueue({
    store: { databaseUrl: database.url, Client: StartingServer },
    log: silentLog(),
    workerTimeoutMs: WORKER_TIMEOUT_MS,
  });
  opened.push(queue);
  const name = `test-job-starting-${process.pid}`;
  const { ready, all } = deliveries(name, 1);
  await ready;
  isStarting = true;
  const client = new pg.Client(database.url);
  await client.connect();
  const others = `from pg_stat_activity where datname = current_database() and application_name = 'tallygate jobs'`;
  const { rows } = await client.query(`select pid ${others}`);
  await client.query(`select pg_terminate_backend(pid) ${others}`);
  // One of each loop of the worker, and then a pause: without it there are thousands a second.
  const most = 4 * rows.length + 8;
  await expect.poll(() => attempts.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(most);
  expect((attempts[most - 1] ?? 0) - (attempts[0] ?? 0)).toBeGreaterThan(1_000);
  isStarting = false;
  await queue.add(name, { n: '1' }, RETRY);
  expect(await all).toHaveLength(1);
  await client.end();
});
