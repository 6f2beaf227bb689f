import { get } from 'node:http';
import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { nano, usd } from './money.ts';

const WORKERS = 2;
const CALLERS = 12;
const CALL = { ...HELLO, max_tokens: 64 };

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
    env: { WORKERS: `${WORKERS}` },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

/** Process ids of all workers there have been since the last start of the gateway, the newest last. */
const workerIds = (): number[] => [...gateway.process.output.matchAll(/"worker":(\d+)/g)].map(([, pid]) => Number(pid));

/** What the caps have of a key: a call that no cap lets through is told. */
async function capOf(key: string) {
  return problemOf(await ask(gateway, key, { ...HELLO, n: 128, max_tokens: 16_384 })).budget;
}

/** The status of a request on a connection of its own, which the next worker in turn gets. */
const statusOnFreshConnection = (path: string, token: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(`${gateway.url}${path}`, { agent: false, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    }).on('error', reject);
  });

/** Callers with plain and streamed requests until they are told to stop. @returns the answers that were received to their last byte */
async function callUntil(isOver: () => boolean, key: string): Promise<Answered[]> {
  const whole: Answered[] = [];
  const caller = async (index: number) => {
    for (let call = index; !isOver(); call++) {
      const answered = await ask(gateway, key, { ...CALL, stream: call % 2 === 0 }).catch(() => undefined);
      if (answered?.status === 200 && (call % 2 === 1 || isDone(answered))) whole.push(answered);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  return whole;
}

/** Each whole answer is booked once, every call that a provider was asked for is charged, and nothing is held any more. */
async function expectSettled(whole: readonly Answered[], { key, keyId }: { key: string; keyId: string }): Promise<void> {
  await vi.waitFor(async () => expect((await capOf(key))?.held_usd).toBe('0'), { timeout: 20_000 });
  await using ledger = await openLedgerAudit(gateway);
  await vi.waitFor(
    async () => {
      const entries = await ledger.entriesOf(whole.map((answered) => header(answered, 'x-request-id')));
      expect([...entries.values()]).toEqual(whole.map(() => expect.objectContaining({ records: 1, postings: 1, receipts: 1 })));
      const { total } = await account.usage({ key_id: keyId });
      expect(total.requests).toBeGreaterThanOrEqual(upstream.requests.length);
      // What was held and had not reached the provider yet.
      expect(total.requests).toBeLessThanOrEqual(upstream.requests.length + CALLERS);
      expect((await capOf(key))?.spent_usd).toBe(total.cost_usd);
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(await ledger.faults()).toEqual([]);
}

test('200 calls at once at a cap of 20 over two workers: exactly 20 are let through', async () => {
  // Bills more than was held: each call costs exactly its hold, whenever it ends.
  upstream.script(() => ({ usageTimes: 1_000 }));
  const probe = await account.createKey({ monthly_cap_usd: '0.00000001' });
  const hold = nano(problemOf(await ask(gateway, probe.key, CALL)).budget?.required_usd ?? '');
  const { key, key_id } = await account.createKey({ monthly_cap_usd: usd(hold * 20n) });
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(gateway, key, CALL)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  expect(upstream.requests).toHaveLength(20);
  await vi.waitFor(async () => expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(hold * 20n)), { timeout: 20_000 });
});

test('workers started after all have died listen at the port that was free before', async () => {
  const { key } = await account.createKey();
  const before = workerIds().length;
  for (const pid of workerIds().slice(-WORKERS)) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(workerIds().length).toBe(before + WORKERS), { timeout: 60_000 });
  expect(await statusOnFreshConnection('/v1/models', key)).toBe(200);
});

test('kill -9 of a worker loses nothing, its running calls are charged, and another takes its place', async () => {
  const { key, key_id: keyId } = await account.createKey({ monthly_cap_usd: '1' });
  const [dying = 0] = workerIds().slice(-WORKERS);
  const before = workerIds().length;
  let calls = 0;
  upstream.script(() => {
    calls += 1;
    if (calls === 40) process.kill(dying, 'SIGKILL');
    return { delayMs: (calls * 7) % 30 };
  });
  const whole = await callUntil(() => calls > 80, key);
  await vi.waitFor(() => expect(workerIds().length).toBe(before + 1), { timeout: 60_000 });
  await expectSettled(whole, { key, keyId });
  expect(whole.length).toBeGreaterThan(20);
});

test('a client on a connection that a worker is killed before it takes is told at once', async () => {
  const { key } = await account.createKey();
  const before = workerIds().length;
  const [dying = 0] = workerIds().slice(-WORKERS);
  process.kill(dying, 'SIGSTOP');
  let answered = 0;
  const asked = Array.from({ length: 2 * WORKERS }, () =>
    statusOnFreshConnection('/v1/models', key)
      .catch(() => 'cut')
      .finally(() => (answered += 1)),
  );
  await vi.waitFor(() => expect(answered).toBe(asked.length - 1), { timeout: 60_000 });
  process.kill(dying, 'SIGKILL');
  expect((await Promise.all(asked)).toSorted()).toEqual([200, 200, 200, 'cut']);
  await vi.waitFor(() => expect(workerIds().length).toBe(before + 1), { timeout: 60_000 });
});

test('kill -9 of the process that has the caps ends its workers, and the next start knows all that was spent', async () => {
  const { key, key_id: keyId } = await account.createKey({ monthly_cap_usd: '1' });
  let calls = 0;
  let killed: Promise<unknown> | undefined;
  upstream.script(() => {
    calls += 1;
    if (calls === 40) killed = gateway.kill();
    return { delayMs: (calls * 7) % 30 };
  });
  const whole = await callUntil(() => killed !== undefined, key);
  // Its output is open for as long as one of its workers lives.
  await killed;
  await gateway.start();
  await expectSettled(whole, { key, keyId });
});

test('a revoked key is refused by all workers within a second', async () => {
  const { key, key_id } = await account.createKey();
  const statuses = () => Promise.all(Array.from({ length: 4 * WORKERS }, () => statusOnFreshConnection('/v1/models', key)));
  expect(new Set(await statuses())).toEqual(new Set([200]));
  await account.revoke(key_id);
  await vi.waitFor(async () => expect(new Set(await statuses())).toEqual(new Set([401])), { timeout: 20_000 });
});

test('an answer that one worker kept is given again by all of them, at no cost', async () => {
  const { key } = await account.createKey();
  const cached = { 'x-cache': 'max-age=600', connection: 'close' };
  expect(header(await ask(gateway, key, HELLO, cached), 'x-cache')).toBe('MISS');
  for (let worker = 0; worker < WORKERS; worker++) {
    const again = await ask(gateway, key, HELLO, cached);
    expect(header(again, 'x-cache')).toBe('HIT');
    expect((await account.trace(header(again, 'x-request-id'))).outcome).toBe('cached');
  }
  expect(upstream.requests).toHaveLength(1);
});

test('all workers name the gateway alike to providers, so that a request that comes back is recognised', async () => {
  const { key } = await account.createKey();
  await Promise.all(Array.from({ length: 8 * WORKERS }, () => ask(gateway, key, CALL, { connection: 'close' })));
  expect(new Set(upstream.requests.map(({ headers }) => headers.via)).size).toBe(1);
});

test('the metrics of any worker count the requests of all', async () => {
  const { metrics_token: token } = gateway.bootstrap;
  const settled = async () => {
    const answer = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${token}`, connection: 'close' } });
    const counted = [...(await answer.text()).matchAll(/^tallygate_requests_total\{.*\} (\d+)$/gm)];
    return counted.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const { key } = await account.createKey();
  const before = await settled();
  await Promise.all(Array.from({ length: 8 * WORKERS }, () => ask(gateway, key, CALL)));
  expect([await settled(), await settled()]).toEqual([before + 8 * WORKERS, before + 8 * WORKERS]);
});

test('a stop lets running answers of all workers end, and ends every process', async () => {
  const { key } = await account.createKey();
  upstream.script(() => ({ tokens: 10, gapMs: 40 }));
  const running = Array.from({ length: 2 * WORKERS }, () => ask(gateway, key, { ...CALL, stream: true }));
  await vi.waitFor(() => expect(upstream.requests).toHaveLength(2 * WORKERS), { timeout: 20_000 });
  const stopped = gateway.stop();
  expect((await Promise.all(running)).map(isDone)).toEqual(Array.from({ length: 2 * WORKERS }, () => true));
  expect(await stopped).toEqual({ code: 0, signal: null });
  await gateway.start();
});
