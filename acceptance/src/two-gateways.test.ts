import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram, testRedisUrl } from '../../server/src/adapters/redis/test-redis.ts';
import { Account } from './account.ts';
import { openBooks, postmasterOf, verifiedReceipt } from './books.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL, problemOf } from './chat.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { nano, sum, usd } from './money.ts';

const CALLS = 300;
const MAX_TOKENS = 64;
const CALLERS = 12;
/** What a gateway held is free so long after its death: the lease, and the sweep after it. */
const FREED_WITHIN_MS = 45_000;

let upstream: FakeUpstream;
let redis: RedisProcess | undefined;
let first: Gateway;
let second: Gateway;
let account: Account;

/** Gateways of one service share their secrets. */
const SECRETS = {
  MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  RECEIPT_SIGNING_KEY: randomBytes(32).toString('base64'),
  LOG_SIGNING_KEY: randomBytes(32).toString('base64'),
  INTERNAL_SECRET: randomBytes(24).toString('base64url'),
};

const options = (env: Record<string, string>): GatewayOptions => ({
  providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
  env: { LOG_LEVEL: 'warn', REDIS_URL: redis?.url ?? testRedisUrl(), ...SECRETS, ...env },
});

function databaseUrlOf(gateway: Gateway): string {
  const password = readFileSync(join(gateway.dataDir, 'postgres/cluster/password'), 'utf8');
  return `postgresql://tallygate:${password}@127.0.0.1:${postmasterOf(gateway).port}/postgres`;
}

/** Pseudo-random in [0, 1), the same in every run (Lehmer's generator, minstd). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** A provider that takes its time and bills anything up to the bound that it was given. */
function billAtRandom(): void {
  const random = randomNumbers(7);
  upstream.script(() => {
    const prompt_tokens = Math.floor(random() * 150);
    const completion_tokens = Math.floor(random() * (MAX_TOKENS + 1));
    return { delayMs: Math.floor(random() * 100), tokens: 2, usage: () => ({ prompt_tokens, completion_tokens, total_tokens: 0 }) };
  });
}

/** What is counted on a key just now, by a request that no cap allows. */
async function standingOf(gateway: Gateway, key: string) {
  const { budget } = problemOf(await ask(gateway, key, { ...HELLO, n: 128, max_tokens: 16_384 }));
  return budget;
}

describe.skipIf(isRedisMissing())('two gateways on one PostgreSQL and one Redis', () => {
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    if (testRedisProgram() !== '') redis = await startRedis(testRedisProgram(), ['--appendonly', 'yes', '--appendfsync', 'always']);
    first = await Gateway.start(options({}));
    second = await Gateway.start(options({ DATABASE_URL: databaseUrlOf(first) }));
    account = await Account.signUp(first, { plan: 'enterprise' });
  }, 120_000);

  afterAll(async () => {
    await second?.remove();
    await first?.remove();
    await upstream?.close();
    await redis?.stop();
  });

  beforeEach(() => upstream.reset());

  test('never settle for more than the cap of a key between them, to the nano-dollar', async () => {
    billAtRandom();
    const cap = nano('0.005');
    const { key, key_id } = await account.createKey({ monthly_cap_usd: '0.005' });
    const answers: Answered[] = [];
    for (let waiting = CALLS, round = 0; waiting > 0 && round < 12; round += 1) {
      const answered = await Promise.all(
        Array.from({ length: waiting }, (_, index) =>
          ask(index % 2 === 0 ? first : second, key, { ...HELLO, max_tokens: MAX_TOKENS, stream: index % 4 < 2 }),
        ),
      );
      answers.push(...answered);
      waiting = answered.filter(({ status }) => status === 429).length;
    }
    const served = answers.filter(({ status }) => status === 200);
    expect(new Set(answers.map(({ status }) => status)).has(402)).toBe(true);
    expect(answers.every(({ status }) => [200, 402, 429].includes(status))).toBe(true);

    await expect.poll(async () => (await account.usage({ key_id })).total.requests, { timeout: 20_000 }).toBe(served.length);
    await using books = await openBooks(first);
    const entries = await books.entriesOf(served.map((answered) => header(answered, 'x-request-id')));
    expect(entries.size).toBe(served.length);
    const settled = sum([...entries.values()].map(({ cost }) => cost));
    expect(settled).toBeLessThanOrEqual(cap);
    // Worth nothing if the cap were never reached: a call costs at most this much.
    expect(settled).toBeGreaterThan(cap - nano('0.0001'));
    expect(await books.faults()).toEqual([]);
    for (const gateway of [first, second]) {
      expect(await standingOf(gateway, key)).toMatchObject({ cap_usd: '0.005', spent_usd: usd(settled), held_usd: '0' });
    }
  });

  test('share the rate limits of a key', async () => {
    const { key } = await account.createKey({ rate_limits: { requests_per_minute: 10 } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? first : second, key, HELLO)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const answered of answers.filter(({ status }) => status !== 200)) expect(problemOf(answered).code).toBe('rate_limited');
  });

  test('refuse a key within a second of its revocation at the other one', async () => {
    const { key, key_id } = await account.createKey();
    expect((await ask(second, key, HELLO)).status).toBe(200);
    const startedTick = performance.now();
    await account.revoke(key_id);
    let status = 200;
    while (status !== 401 && performance.now() - startedTick < 5_000) ({ status } = await ask(second, key, HELLO));
    expect(status).toBe(401);
    expect(performance.now() - startedTick).toBeLessThan(1_000);
  });

  test('refuse a third one whose lanes would be its own', async () => {
    const { REDIS_URL: _, ...env } = options({ DATABASE_URL: databaseUrlOf(first) }).env ?? {};
    const started = Gateway.start({ env });
    await expect(started).rejects.toThrow('Another gateway runs on this database');
  });

  test('lose nothing when Redis is killed under load: calls are refused until it is back, and whole answers are in the books once', async () => {
    if (!redis) return;
    const { key, key_id } = await account.createKey({ monthly_cap_usd: '1' });
    upstream.script(() => ({ delayMs: 10 }));
    const answers: Answered[] = [];
    let isOver = false;
    const caller = async (gateway: Gateway) => {
      while (!isOver) answers.push(await ask(gateway, key, HELLO));
    };
    const callers = Array.from({ length: CALLERS }, (_, index) => caller(index % 2 === 0 ? first : second));
    const served = () => answers.filter(({ status }) => status === 200);
    await expect.poll(() => served().length, { timeout: 10_000 }).toBeGreaterThan(50);
    await redis.kill();
    await expect.poll(() => answers.some(({ status }) => status === 503), { timeout: 10_000 }).toBe(true);
    await redis.start();
    const before = served().length;
    await expect.poll(() => served().length, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    isOver = true;
    await Promise.all(callers);
    expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 503]);

    await using books = await openBooks(first);
    const ids = served().map((one) => header(one, 'x-request-id'));
    await expect.poll(async () => (await books.entriesOf(ids)).size, { timeout: 20_000 }).toBe(ids.length);
    for (const entry of (await books.entriesOf(ids)).values()) expect(entry).toMatchObject({ records: 1, postings: 1, receipts: 1 });
    await expect.poll(() => books.faults(), { timeout: 10_000 }).toEqual([]);
    const { total } = await account.usage({ key_id });
    expect((await standingOf(first, key))?.spent_usd).toBe(total.cost_usd);
  }, 90_000);

  test('lose nothing when one is killed under load: the other goes on, whole answers are in the books once, and what was held is free again', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '1' });
    const killed = new Promise((resolve) => {
      let calls = 0;
      upstream.script(() => {
        calls += 1;
        if (calls === 150) resolve(second.kill());
        return { delayMs: (calls * 7) % 40 };
      });
    });
    const whole: Answered[] = [];
    let isOver = false;
    const caller = async (gateway: Gateway, index: number) => {
      for (let call = index; !isOver; call += 1) {
        const isStream = call % 2 === 0;
        const answered = await ask(gateway, key, { ...HELLO, max_tokens: 64, stream: isStream }).catch(() => undefined);
        if (!answered) return;
        expect(answered.status).toBe(200);
        if (!isStream || isDone(answered)) whole.push(answered);
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, index) => caller(index % 2 === 0 ? first : second, index));
    await killed;
    const before = whole.length;
    await expect.poll(() => whole.length, { timeout: 20_000 }).toBeGreaterThan(before + 20);
    isOver = true;
    await Promise.all(callers);

    await using books = await openBooks(first);
    await expect
      .poll(async () => (await books.entriesOf(whole.map((one) => header(one, 'x-request-id')))).size, { timeout: 20_000 })
      .toBe(whole.length);
    for (const entry of (await books.entriesOf(whole.map((one) => header(one, 'x-request-id')))).values())
      expect(entry).toMatchObject({ records: 1, postings: 1, receipts: 1 });
    await expect.poll(() => books.faults(), { timeout: 10_000 }).toEqual([]);
    await Promise.all(whole.slice(-20).map((answered) => verifiedReceipt(first, header(answered, 'x-receipt-id'))));

    await expect.poll(async () => (await standingOf(first, key))?.held_usd, { timeout: FREED_WITHIN_MS, interval: 1_000 }).toBe('0');
    await second.start();
    expect(await standingOf(second, key)).toEqual(await standingOf(first, key));
  }, 120_000);
});
