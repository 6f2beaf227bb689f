import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../server/src/adapters/postgres/test-database.ts';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram, testRedisUrl } from '../../server/src/adapters/redis/test-redis.ts';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL } from './chat.ts';
import { earlierServer } from './earlier-version.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { sum, usd } from './money.ts';

const CALLERS = 6;
/** Longer than a balancer takes to see that a gateway is not ready, on a busy machine too. */
const DRAIN_DELAY_MS = 3_000;
const ADMIN = fileURLToPath(new URL('../../scripts/admin.mjs', import.meta.url));

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  return client.query(sql).finally(() => client.end());
}

const migrationsOf = async ({ databaseUrl }: Gateway): Promise<number> =>
  Number((await query(databaseUrl, 'select count(*) from schema_migrations')).rows[0].count);

let upstream: FakeUpstream;
let redis: RedisProcess | undefined;
const gateways: Gateway[] = [];
let database: Awaited<ReturnType<typeof testDatabase>> | undefined;
/** Undefined where this clone has no earlier version: then one version takes the place of itself. */
let earlier: string | undefined;
let account: Account;

function firstGateway(): Gateway {
  const [first] = gateways;
  if (!first) throw new Error('There is no gateway');
  return first;
}

/** As a load balancer does: to the next of those that say that they are ready. */
class Balancer {
  #turn = 0;

  async next(): Promise<Gateway> {
    for (;;) {
      const gateway = gateways[this.#turn++ % gateways.length];
      if (gateway && (await this.#isReady(gateway))) return gateway;
    }
  }

  async #isReady(gateway: Gateway): Promise<boolean> {
    // One that is being replaced listens nowhere yet.
    const answer = await fetch(`${gateway.url}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  }
}

describe.skipIf(isRedisMissing())('a rolling upgrade of two gateways', () => {
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    if (testRedisProgram() !== '') redis = await startRedis(testRedisProgram(), ['--appendonly', 'yes', '--appendfsync', 'always']);
    const secrets = {
      MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      RECEIPT_SIGNING_KEY: randomBytes(32).toString('base64'),
      LOG_SIGNING_KEY: randomBytes(32).toString('base64'),
      INTERNAL_SECRET: randomBytes(24).toString('base64url'),
    };
    const options = (env: Record<string, string>): GatewayOptions => ({
      providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
      env: { REDIS_URL: redis?.url ?? testRedisUrl(), DRAIN_DELAY_MS: String(DRAIN_DELAY_MS), ...secrets, ...env },
    });
    earlier = earlierServer();
    if (earlier === undefined) console.warn('NOT TESTED between two versions: the history has no earlier one, or it cannot be built.');
    database = await testDatabase();
    // The earlier version makes its tables itself.
    if (earlier !== undefined) await query(database.url, 'drop schema public, test_billing cascade; create schema public');
    for (let started = 0; started < 2; started += 1)
      gateways.push(await Gateway.start({ ...options({ DATABASE_URL: database.url }), program: earlier }));
    account = await Account.signUp(firstGateway(), { plan: 'enterprise' });
    upstream.script(() => ({ delayMs: 100, tokens: 3 }));
  });
  afterAll(async () => {
    for (const gateway of gateways.toReversed()) await gateway.remove();
    await database?.drop();
    await upstream?.close();
    await redis?.stop();
  });

  test('from the version before the newest migration fails no request, and each is in the ledger once', async () => {
    const { key, key_id } = await account.createKey();
    const balancer = new Balancer();
    const answers: { readonly answered: Answered; readonly isStream: boolean }[] = [];
    let isReplacing = true;
    const call = async (caller: number): Promise<void> => {
      while (isReplacing) {
        const isStream = (caller + answers.length) % 2 === 0;
        answers.push({ answered: await ask(await balancer.next(), key, { ...HELLO, stream: isStream }), isStream });
      }
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
    const first = firstGateway();
    const applied = await migrationsOf(first);
    execFileSync(process.execPath, [ADMIN, 'migrate'], { env: { ...process.env, ...first.places }, stdio: 'ignore' });
    if (earlier !== undefined) expect(await migrationsOf(first)).toBeGreaterThan(applied);
    for (const gateway of gateways) {
      const before = answers.length;
      // Both have calls under way when one is stopped.
      await expect.poll(() => answers.length).toBeGreaterThan(before + CALLERS);
      expect(await gateway.stop()).toEqual({ code: 0, signal: null });
      gateway.upgrade();
      await gateway.start();
    }
    isReplacing = false;
    await callers;

    expect(answers.filter(({ answered }) => answered.status !== 200).map(({ answered }) => answered.text)).toEqual([]);
    expect(answers.every(({ answered, isStream }) => !isStream || isDone(answered))).toBe(true);
    await expect.poll(async () => (await account.usage({ key_id })).total.requests).toBe(answers.length);
    await using ledger = await openLedgerAudit(first);
    const entries = await ledger.entriesOf(answers.map(({ answered }) => header(answered, 'x-request-id')));
    expect(entries.size).toBe(answers.length);
    expect([...entries.values()].every(({ records, postings, receipts }) => records === 1 && postings === 1 && receipts === 1)).toBe(true);
    expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(sum([...entries.values()].map(({ cost }) => cost))));
    expect(await ledger.faults()).toEqual([]);
  });
});
