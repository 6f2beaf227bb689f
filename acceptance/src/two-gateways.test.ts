import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ModelPrice, PlanEntitlementsResponse, PriceList, UserResponse } from '@tallygate/contract';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { BEGIN, HOLD, SETTLE } from '../../server/src/adapters/lanes/redis/scripts.ts';
import { type RedisProcess, startRedis, watchCommands } from '../../server/src/adapters/redis/redis-process.ts';
import { isRedisMissing, testRedisProgram, testRedisUrl } from '../../server/src/adapters/redis/test-redis.ts';
import { expectWithinASecond } from '../../server/src/kernel/testing/within-a-second.ts';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL, problemOf } from './chat.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { nano, sum, usd } from './money.ts';
import { randomNumbers } from './random.ts';

const CALLS = 300;
const MAX_TOKENS = 64;
const CALLERS = 12;
/** A call that is refused so is repeated until the cap has decided: the running ones keep it out, or a gateway that gets no processor time does. */
const PASSING = new Set(['budget_in_flight', 'store_unavailable']);
/** All partitions are swept every half minute, and compared with the ledger every minute: at most twice, and once, in this time. */
const IDLE_MS = 59_000;
/** An unknown model. */
const HOUSE = 'house-model';
const HOUSE_HELLO = { ...HELLO, model: HOUSE };
const REALTIME = 'gpt-realtime-mini';

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
  providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL, HOUSE, REALTIME] }],
  env: { LOG_LEVEL: 'warn', REDIS_URL: redis?.url ?? testRedisUrl(), ...SECRETS, ...env },
});

/** At the first of them, as its administrator. */
async function administer(method: string, path: string, body: object): Promise<unknown> {
  const { admin_email: email, admin_password: password } = first.bootstrap;
  const send = (at: string, how: string, json: object, headers = {}) =>
    fetch(`${first.url}${at}`, { method: how, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) });
  const { session } = UserResponse.parse(await (await send('/v1/users/login', 'POST', { email, password })).json());
  const answer = await send(path, method, body, { authorization: `Bearer ${session?.token}` });
  expect(answer.ok).toBe(true);
  return answer.json();
}

const setHousePrice = async (usd: string) => {
  const usd_per_million = { input_tokens: usd, output_tokens: usd };
  return ModelPrice.parse(await administer('POST', `/v1/admin/models/${HOUSE}/prices`, { usd_per_million })).pricing;
};

const houseReceipt = (gateway: Gateway, answered: Answered) =>
  vi.waitFor(() => verifiedReceipt(gateway, header(answered, 'x-receipt-id')), { timeout: 120_000, interval: 50 });

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
    first = await Gateway.start({ process: 'shared', ...options({}) });
    second = await Gateway.start(options({ DATABASE_URL: first.databaseUrl }));
    account = await Account.signUp(first, { plan: 'enterprise' });
  });

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
    const calls = Array.from({ length: CALLS }, (_, index) => async () => {
      const at = index % 2 === 0 ? first : second;
      const answered = await ask(at, key, { ...HELLO, max_tokens: MAX_TOKENS, stream: index % 4 < 2 });
      if (answered.status !== 200 && PASSING.has(problemOf(answered).code)) return true;
      answers.push(answered);
      return false;
    });
    // How many rounds that takes depends on how many calls are settled before the next one is held.
    for (let waiting = calls; waiting.length > 0; ) {
      const isToRepeat = await Promise.all(waiting.map((call) => call()));
      waiting = waiting.filter((_, index) => isToRepeat[index]);
    }
    const served = answers.filter(({ status }) => status === 200);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 402]));

    await expect.poll(async () => (await account.usage({ key_id })).total.requests).toBe(served.length);
    await using ledger = await openLedgerAudit(first);
    const entries = await ledger.entriesOf(served.map((answered) => header(answered, 'x-request-id')));
    expect(entries.size).toBe(served.length);
    const settled = sum([...entries.values()].map(({ cost }) => cost));
    expect(settled).toBeLessThanOrEqual(cap);
    // Worth nothing if the cap were never reached: a call costs at most this much.
    expect(settled).toBeGreaterThan(cap - nano('0.0001'));
    expect(await ledger.faults()).toEqual([]);
    for (const gateway of [first, second]) {
      expect(await standingOf(gateway, key)).toMatchObject({ cap_usd: '0.005', spent_usd: usd(settled), held_usd: '0' });
    }
  });

  test('hold what a stopped one has begun for longer than its session and its leases last, and charge its answer once', async () => {
    const cap = nano('0.0001');
    const { key, key_id } = await account.createKey({ monthly_cap_usd: '0.0001' });
    const call = { ...HELLO, max_tokens: MAX_TOKENS };
    upstream.script(() => ({ delayMs: 500, tokens: 2, usage: () => ({ prompt_tokens: 10, completion_tokens: 60, total_tokens: 70 }) }));
    const answer = ask(second, key, call);
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1));
    const held = nano((await standingOf(first, key))?.held_usd ?? '0');
    process.kill(second.process.pid ?? 0, 'SIGSTOP');
    const database = new pg.Client({ connectionString: first.databaseUrl });
    await database.connect();
    // By PostgreSQL's clock: its session lasts 15 seconds, and a lease in Redis 30.
    const lapsed = "select from gateway_sessions where seen_at < now() - interval '31 seconds'";
    await expect.poll(async () => (await database.query(lapsed)).rowCount, { timeout: 120_000, interval: 500 }).toBe(1);
    await database.end();
    expect(held).toBeGreaterThan(cap / 2n);
    expect(await standingOf(first, key)).toMatchObject({ spent_usd: '0', held_usd: usd(held) });
    expect((await ask(first, key, call)).status).toBe(429);
    process.kill(second.process.pid ?? 0, 'SIGCONT');
    const { status } = await answer;
    expect(status).toBe(200);
    await expect.poll(async () => (await account.usage({ key_id })).total).toMatchObject({ requests: 1, output_tokens: 60 });
    await expect.poll(() => standingOf(first, key)).toMatchObject({ held_usd: '0' });
  });

  test('ask Redis once to hold a request, and once to settle it', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '1' });
    await ask(first, key, HELLO);
    const { commands, stop } = await watchCommands(redis?.url ?? testRedisUrl());
    for (const stream of [false, true, false, true]) await ask(first, key, { ...HELLO, stream });
    const runsOf = ({ digest }: { readonly digest: string }) => commands.filter(([, script]) => script === digest).length;
    await vi.waitFor(() => expect(runsOf(SETTLE)).toBe(4));
    expect([HOLD, BEGIN, SETTLE].map(runsOf)).toEqual([4, 0, 4]);
    stop();
  });

  test('send Redis less than ten commands a second between them while nobody calls', async () => {
    const { commands, stop } = await watchCommands(redis?.url ?? testRedisUrl());
    await pause(IDLE_MS);
    stop();
    const sent = [...Map.groupBy(commands, ([name, script]) => `${name} ${script?.slice(0, 12)}`)].map(
      ([what, all]) => `${all.length} ${what}`,
    );
    expect(commands.length, sent.join(', ')).toBeLessThan((IDLE_MS / 1_000) * 10);
  });

  test('share the rate limits of a key', async () => {
    const { key } = await account.createKey({ rate_limits: { requests_per_minute: 10 } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? first : second, key, HELLO)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const answered of answers.filter(({ status }) => status !== 200)) expect(problemOf(answered).code).toBe('rate_limited');
  });

  test('give each other’s cached answers again, at no cost and with a receipt that verifies', async () => {
    const { key } = await account.createKey();
    const cached = { 'x-cache': 'max-age=600' };
    const [fresh, again] = [await ask(first, key, HELLO, cached), await ask(second, key, HELLO, cached)];
    expect([fresh, again].map((answered) => header(answered, 'x-cache'))).toEqual(['MISS', 'HIT']);
    expect(again.text).toBe(fresh.text);
    const { outcome, cost_usd, receipt_id } = await account.trace(header(again, 'x-request-id'));
    expect([outcome, cost_usd]).toEqual(['cached', '0']);
    expect(await verifiedReceipt(second, receipt_id)).toMatchObject({ outcome: 'cached', cost_nano_usd: '0' });
  });

  test('refuse a key within a second of its revocation at the other one', async () => {
    await expectWithinASecond(async () => {
      const { key, key_id } = await account.createKey();
      expect((await ask(second, key, HELLO)).status).toBe(200);
      await account.revoke(key_id);
      return async () => (await ask(second, key, HELLO)).status === 401;
    });
  });

  test('make one key of orders with the same Idempotency-Key, whichever of them is asked', async () => {
    const order = async (gateway: Gateway, name: string) => {
      const headers = { ...account.session, 'content-type': 'application/json', 'idempotency-key': 'only-once' };
      const body = JSON.stringify({ name, scopes: ['inference'] });
      const answer = await fetch(`${gateway.url}/v1/keys`, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.json() };
    };
    const atOnce = await Promise.all(Array.from({ length: 20 }, (_, index) => order(index % 2 === 0 ? first : second, 'made once')));
    for (const { status, body } of atOnce) expect(status === 201 || body.code).toBe(status === 201 || 'idempotency_in_progress');
    const repeated = [await order(first, 'made once'), await order(second, 'made once')];
    const [made] = atOnce.filter(({ status }) => status === 201);
    expect(repeated).toEqual([made, made]);
    expect(await order(second, 'another')).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
  });

  test('take a signature once between them, with a nonce and without one', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { x: signing_public_key } = publicKey.export({ format: 'jwk' });
    const { key } = await account.createKey({ ...(signing_public_key && { signing_public_key }), require_signature: true });
    const body = JSON.stringify(HELLO);
    const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
    const signed = (nonce: string) => {
      const params = `("@method" "@path" "content-digest");created=${Math.floor(Date.now() / 1_000)}${nonce}`;
      const base = `"@method": POST\n"@path": /v1/chat/completions\n"content-digest": ${digest}\n"@signature-params": ${params}`;
      const signature = `sig=:${sign(null, Buffer.from(base), privateKey).toString('base64')}:`;
      return { 'content-digest': digest, 'signature-input': `sig=${params}`, signature };
    };
    for (const nonce of ['', ';nonce="only-once"']) {
      const headers = signed(nonce);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? first : second, key, body, headers)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const refused of answers.filter(({ status }) => status !== 200)) expect(problemOf(refused).code).toBe('invalid_signature');
    }
  });

  test('agree on a model that is given its first price at one of them', async () => {
    const { key } = await account.createKey();
    for (const gateway of [first, second]) expect(problemOf(await ask(gateway, key, HOUSE_HELLO)).code).toBe('unpriced_feature');
    const { version } = await setHousePrice('1');
    await expect.poll(async () => (await ask(second, key, HOUSE_HELLO)).status).toBe(200);
    const receipts = await Promise.all([first, second].map(async (gateway) => houseReceipt(gateway, await ask(gateway, key, HOUSE_HELLO))));
    expect(receipts.map(({ price_version }) => price_version)).toEqual([version, version]);
  });

  test('charge a new price from the same moment, and know of it before', async () => {
    const { key } = await account.createKey();
    const publishedAt = async (gateway: Gateway) => {
      const { data } = PriceList.parse(await (await fetch(`${gateway.url}/v1/prices`)).json());
      return data.filter(({ id }) => id === HOUSE).map(({ pricing }) => pricing.version);
    };
    const answered: [Gateway, Answered][] = [];
    const askBoth = async () => {
      for (const gateway of [first, second]) answered.push([gateway, await ask(gateway, key, HOUSE_HELLO)]);
    };
    let [usd, before, version, effective_from, changesAtMs] = [2, '', '', '', 0];
    // A machine that is busy with something else may let the moment pass before both were asked.
    do {
      answered.length = 0;
      before = (await houseReceipt(first, await ask(first, key, HOUSE_HELLO))).price_version;
      ({ version, effective_from } = await setHousePrice(`${++usd}`));
      changesAtMs = Date.parse(effective_from);
      await expect.poll(async () => (await publishedAt(second)).slice(0, 2)).toEqual([version, before]);
      await askBoth();
    } while (Date.now() >= changesAtMs && usd < 20);
    // And without a pause around the moment itself.
    await pause(changesAtMs - 300 - Date.now());
    while (Date.now() < changesAtMs + 200) await askBoth();
    const receipts = await Promise.all(answered.map(([gateway, answer]) => houseReceipt(gateway, answer)));
    for (const { started_at, price_version } of receipts)
      expect([started_at, price_version]).toEqual([started_at, started_at >= effective_from ? version : before]);
    expect(new Set(receipts.map(({ price_version }) => price_version))).toEqual(new Set([before, version]));
  });

  test('agree within a second on the plan that an account is given at one of them', async () => {
    await expectWithinASecond(async () => {
      const other = await Account.signUp(first, { plan: 'enterprise' });
      const planAtSecond = async () => {
        const answer = await fetch(`${second.url}/v1/plans/entitlements`, { headers: other.session });
        return PlanEntitlementsResponse.parse(await answer.json()).plan_id;
      };
      expect(await planAtSecond()).toBe('enterprise');
      await administer('PUT', `/v1/admin/accounts/${other.accountId}/plan`, { plan_id: 'pro' });
      return async () => (await planAtSecond()) === 'pro';
    });
  });

  test('refuse a third one whose lanes would be its own', async () => {
    const { REDIS_URL: _, ...env } = options({ DATABASE_URL: first.databaseUrl }).env ?? {};
    const started = Gateway.start({ process: 'shared', env });
    await expect(started).rejects.toThrow('Another gateway runs on this database');
  });

  test('refuse a response of a realtime session while Redis does not answer, and go on with the session', async () => {
    if (!redis) return;
    const { key } = await account.createKey();
    const socket = new WebSocket(`${first.url}/v1/realtime?model=${REALTIME}`, ['realtime', `openai-insecure-api-key.${key}`]);
    const heard: { type: string; error?: { code: string; retry_after: number } }[] = [];
    const types = () => heard.map(({ type }) => type);
    socket.addEventListener('message', ({ data }) => heard.push(JSON.parse(String(data))));
    await expect.poll(types).toContain('session.created');
    const create = () => socket.send(JSON.stringify({ type: 'response.create' }));
    redis.pause();
    create();
    await expect.poll(types).toContain('error');
    redis.resume();
    expect(heard.find(({ type }) => type === 'error')?.error).toMatchObject({ code: 'store_unavailable', retry_after: expect.any(Number) });
    await vi.waitFor(
      async () => {
        const before = types().filter((type) => type === 'error').length;
        create();
        await expect.poll(() => types().includes('response.done') || types().filter((type) => type === 'error').length > before).toBe(true);
        expect(types()).toContain('response.done');
      },
      { timeout: 60_000, interval: 200 },
    );
    socket.close();
  });

  test('lose nothing when Redis is killed under load: whole answers are in the ledger once', async () => {
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
    await expect.poll(() => served().length).toBeGreaterThan(50);
    await redis.kill();
    await expect.poll(() => answers.some(({ status }) => status === 503)).toBe(true);
    await redis.start();
    const before = served().length;
    await expect.poll(() => served().length).toBeGreaterThan(before + 50);
    isOver = true;
    await Promise.all(callers);
    expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 503]);

    await using ledger = await openLedgerAudit(first);
    const ids = served().map((one) => header(one, 'x-request-id'));
    await expect.poll(async () => (await ledger.entriesOf(ids)).size).toBe(ids.length);
    for (const entry of (await ledger.entriesOf(ids)).values()) expect(entry).toMatchObject({ records: 1, postings: 1, receipts: 1 });
    await expect.poll(() => ledger.faults()).toEqual([]);
    // What could not be settled while Redis was away is settled now, one after the other.
    const spentAndWritten = async () => [(await standingOf(first, key))?.spent_usd, (await account.usage({ key_id })).total.cost_usd];
    await expect.poll(async () => new Set(await spentAndWritten()).size).toBe(1);
  });

  test('lose nothing when one is killed: the other continues, and its running calls stay held', async () => {
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
    await expect.poll(() => whole.length).toBeGreaterThan(before + 20);
    isOver = true;
    await Promise.all(callers);

    await using ledger = await openLedgerAudit(first);
    await expect
      .poll(async () => (await ledger.entriesOf(whole.map((one) => header(one, 'x-request-id')))).size, { timeout: 120_000 })
      .toBe(whole.length);
    for (const entry of (await ledger.entriesOf(whole.map((one) => header(one, 'x-request-id')))).values())
      expect(entry).toMatchObject({ records: 1, postings: 1, receipts: 1 });
    await expect.poll(() => ledger.faults()).toEqual([]);
    await Promise.all(whole.slice(-20).map((answered) => verifiedReceipt(first, header(answered, 'x-receipt-id'))));

    // Its provider may bill for what it was running: that stays held until it is settled.
    expect((await standingOf(first, key))?.held_usd).not.toBe('0');
    await second.start();
    expect(await standingOf(second, key)).toEqual(await standingOf(first, key));
  });
});
