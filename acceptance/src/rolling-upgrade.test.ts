import { randomBytes } from 'node:crypto';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisProcess, startRedis } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram, testRedisUrl } from '../../server/src/adapters/redis/test-redis.ts';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL } from './chat.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { sum, usd } from './money.ts';

const CALLERS = 6;
/** Longer than a balancer takes to see that a gateway is not ready, on a busy machine too. */
const DRAIN_DELAY_MS = 3_000;

let upstream: FakeUpstream;
let redis: RedisProcess | undefined;
let gateways: Gateway[] = [];
let account: Account;

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
    const first = await Gateway.start(options({}));
    gateways = [first];
    gateways.push(await Gateway.start(options({ DATABASE_URL: first.databaseUrl })));
    account = await Account.signUp(first, { plan: 'enterprise' });
    upstream.script(() => ({ delayMs: 100, tokens: 3 }));
  });
  afterAll(async () => {
    for (const gateway of gateways.toReversed()) await gateway.remove();
    await upstream?.close();
    await redis?.stop();
  });

  test('fails no request, and each that was answered is in the ledger once', async () => {
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
    for (const gateway of gateways) {
      const before = answers.length;
      // Both have calls under way when one is stopped.
      await expect.poll(() => answers.length).toBeGreaterThan(before + CALLERS);
      expect(await gateway.stop()).toEqual({ code: 0, signal: null });
      await gateway.start();
    }
    isReplacing = false;
    await callers;

    expect(answers.filter(({ answered }) => answered.status !== 200).map(({ answered }) => answered.text)).toEqual([]);
    expect(answers.every(({ answered, isStream }) => !isStream || isDone(answered))).toBe(true);
    await expect.poll(async () => (await account.usage({ key_id })).total.requests).toBe(answers.length);
    const [first] = gateways;
    if (!first) throw new Error('There is no gateway');
    await using ledger = await openLedgerAudit(first);
    const entries = await ledger.entriesOf(answers.map(({ answered }) => header(answered, 'x-request-id')));
    expect(entries.size).toBe(answers.length);
    expect([...entries.values()].every(({ records, postings, receipts }) => records === 1 && postings === 1 && receipts === 1)).toBe(true);
    expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(sum([...entries.values()].map(({ cost }) => cost))));
    expect(await ledger.faults()).toEqual([]);
  });
});
