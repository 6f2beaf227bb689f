import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Account } from './account.ts';
import { type Answered, ask, HELLO, header, isDone, MODEL, problemOf } from './chat.ts';
import { Gateway, postmasterOf } from './gateway.ts';
import { type AuditedRequest, openLedgerAudit, verifiedReceipt } from './ledger-audit.ts';
import { sum, usd } from './money.ts';

const CRASHES = Number(process.env['CRASHES_UNDER_TEST'] ?? 5);
const CALLERS = 12;
/** At most so many calls arrive at the provider between a start and the crash. */
const MOST_CALLS = 60;

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({ database: 'embedded', providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }] });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});

/** Callers with plain and streamed requests, until the gateway has died. @returns the answers that were received to their last byte */
async function callUntilGone(key: string, headers: Record<string, string>): Promise<Answered[]> {
  const whole: Answered[] = [];
  const caller = async (index: number) => {
    for (let call = index; ; call++) {
      const answered = await ask(gateway, key, { ...HELLO, max_tokens: 64, stream: call % 2 === 0 }, headers).catch(() => undefined);
      if (!answered) return;
      if (answered.status === 200 && (call % 2 === 1 || isDone(answered))) whole.push(answered);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  return whole;
}

/** Kills the gateway while the provider is at work on the given number of calls. */
function killAtCall(last: number): Promise<unknown> {
  return new Promise((resolve) => {
    let calls = 0;
    upstream.script(({ body }) => {
      calls += 1;
      if (calls === last) resolve(gateway.kill());
      const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
      return isStream ? { gapMs: calls % 4 } : { delayMs: (calls * 7) % 30 };
    });
  });
}

const onceEach = { records: 1, postings: 1, receipts: 1 };

test(`${CRASHES} times kill -9 under load: each whole answer is booked once, with its receipt, and caps are exact`, async () => {
  const { key, key_id } = await account.createKey({ monthly_cap_usd: '1' });
  const run = { 'x-agent-run-id': 'crashing', 'x-agent-max-budget': '0.9' };
  await ask(gateway, key, HELLO, run);
  let answers = 0;
  for (let crash = 0; crash < CRASHES; crash++) {
    // Anywhere, and soon after a start as well as late.
    const killed = killAtCall(1 + Math.floor(((crash + Math.random()) / CRASHES) * MOST_CALLS));
    const whole = await callUntilGone(key, run);
    await killed;
    upstream.reset();
    await gateway.start();
    answers += whole.length;

    await using ledger = await openLedgerAudit(gateway);
    const entries = await ledger.entriesOf(whole.map((answered) => header(answered, 'x-request-id')));
    for (const answered of whole) {
      const entry: AuditedRequest | undefined = entries.get(header(answered, 'x-request-id'));
      expect(entry).toMatchObject({ ...onceEach, receiptId: header(answered, 'x-receipt-id') });
    }
    expect(await ledger.faults()).toEqual([]);
    await Promise.all(whole.map((answered) => verifiedReceipt(gateway, header(answered, 'x-receipt-id'))));

    // What the lanes have loaded is what the ledger says, and no hold of the dead process is among it.
    const { total } = await account.usage({ key_id });
    const tooDear = { ...HELLO, n: 128, max_tokens: 16_384 };
    expect(problemOf(await ask(gateway, key, tooDear)).budget).toMatchObject({
      limit_source: 'key',
      spent_usd: total.cost_usd,
      held_usd: '0',
    });
    expect(problemOf(await ask(gateway, key, tooDear, { 'x-agent-run-id': 'crashing' })).budget).toMatchObject({
      limit_source: 'agent_run',
      cap_usd: '0.9',
      spent_usd: total.cost_usd,
      held_usd: '0',
    });
  }
  expect(answers).toBeGreaterThan(CRASHES);
});

test('kill -9 of the database loses nothing: answered requests are in the ledger after a restart', async () => {
  const { key, key_id } = await account.createKey({ monthly_cap_usd: '1' });
  const served = [await ask(gateway, key, HELLO)];
  process.kill(postmasterOf(gateway.dataDir).pid, 'SIGKILL');
  for (let call = 0; call < 20; call++) {
    const answered = await ask(gateway, key, { ...HELLO, max_tokens: 64, stream: call % 2 === 0 });
    // Keys in memory still work; others may be refused, as unavailable and not as a bug.
    if (answered.status !== 200) expect(problemOf(answered)).toMatchObject({ status: 503, code: 'store_unavailable' });
    else served.push(answered);
  }
  expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  await gateway.stop();
  await gateway.start();

  await using ledger = await openLedgerAudit(gateway);
  const entries = await ledger.entriesOf(served.map((answered) => header(answered, 'x-request-id')));
  expect([...entries.values()]).toEqual(served.map(() => expect.objectContaining(onceEach)));
  expect(await ledger.faults()).toEqual([]);
  expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(sum([...entries.values()].map(({ cost }) => cost))));
});

test('kill -9 lifts no ceiling of a run, although nothing of the run was ever settled', async () => {
  const { key } = await account.createKey();
  const run = { 'x-agent-run-id': 'never-settled' };
  const refused = await ask(gateway, key, HELLO, { ...run, 'x-agent-max-budget': '0.000001' });
  expect(problemOf(refused)).toMatchObject({ status: 402, budget: { limit_source: 'agent_run' } });
  expect(header(refused, 'x-agent-budget-limit-usd')).toBe('0.000001');
  await gateway.kill();
  await gateway.start();
  expect(problemOf(await ask(gateway, key, HELLO, run))).toMatchObject({ status: 402, budget: { cap_usd: '0.000001' } });
});

test('kill -9 of the database under a running gateway: it reports it, recovers and loses nothing', async () => {
  const { key, key_id } = await account.createKey({ monthly_cap_usd: '1' });
  upstream.script({ tokens: 10, gapMs: 40 });
  const arrived = upstream.nextRequest();
  const running = ask(gateway, key, { ...HELLO, stream: true });
  await arrived;
  process.kill(postmasterOf(gateway.dataDir).pid, 'SIGKILL');
  await readiness(503);
  const whole = await running; // Settled without a database, or with a failing one: the ledger has it later.
  expect(isDone(whole)).toBe(true);
  upstream.reset();
  await readiness(200);

  // Entity manager, pools and listener have reconnected: a key is created, accepted, and refused at once after its revocation.
  const made = await account.createKey();
  const withNew = await ask(gateway, made.key, HELLO);
  expect(withNew.status).toBe(200);
  await account.revoke(made.key_id);
  expect((await ask(gateway, made.key, HELLO)).status).toBe(401);

  const requestIds = [whole, withNew].map((answered) => header(answered, 'x-request-id'));
  await Promise.all(requestIds.map((requestId) => account.trace(requestId)));
  await using ledger = await openLedgerAudit(gateway);
  const entries = await ledger.entriesOf(requestIds);
  expect([...entries.values()]).toEqual(requestIds.map(() => expect.objectContaining(onceEach)));
  expect(await ledger.faults()).toEqual([]);
  const cost = entries.get(header(whole, 'x-request-id'))?.cost ?? 0n;
  expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(cost));
});

/** Asks until it is as expected. */
async function readiness(status: 200 | 503): Promise<void> {
  await vi.waitFor(async () => expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(status), {
    timeout: 120_000,
    interval: 10,
  });
}
