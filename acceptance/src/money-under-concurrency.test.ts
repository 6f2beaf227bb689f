import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { type Answered, ask, completionOf, eventsOf, HELLO, header, isDone, MODEL, problemOf } from './chat.ts';
import { Gateway } from './gateway.ts';
import { openLedgerAudit } from './ledger-audit.ts';
import { nano, sum, usd } from './money.ts';
import { randomNumbers } from './random.ts';
import { storm } from './storm.ts';

const MAX_TOKENS = 64;
const MOST_PROMPT_TOKENS = 150;

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start({
    process: 'shared',
    providers: [{ name: 'fake', base_url: upstream.url, models: [MODEL] }],
    env: { LOG_LEVEL: 'warn' },
  });
  account = await Account.signUp(gateway, { plan: 'enterprise' });
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

/** A provider that takes its time and bills anything up to the bound that it was given. */
function billAtRandom(seed: number): void {
  const random = randomNumbers(seed);
  upstream.script(() => {
    const prompt_tokens = Math.floor(random() * MOST_PROMPT_TOKENS);
    const completion_tokens = Math.floor(random() * (MAX_TOKENS + 1));
    return { delayMs: Math.floor(random() * 100), tokens: 2, usage: () => ({ prompt_tokens, completion_tokens, total_tokens: 0 }) };
  });
}

/** Every second call is streamed. */
async function answersOf(calls: number, key: string, headers: Record<string, string>): Promise<Answered[]> {
  const isStreamed = Array.from({ length: calls }, (_, index) => index % 2 === 0);
  const more = { stream: true, stream_options: { include_usage: true } };
  const made = await storm(isStreamed, (isStream) =>
    ask(gateway, key, { ...HELLO, max_tokens: MAX_TOKENS, ...(isStream && more) }, headers),
  );
  return made.map(({ answered }) => answered);
}

const costShown = (answered: Answered): number =>
  answered.headers.get('content-type')?.startsWith('text/event-stream')
    ? (eventsOf(answered).findLast(({ usage }) => usage)?.usage?.cost ?? Number.NaN)
    : completionOf(answered).usage.cost;

// A thousand once: what is different of the others is which of two lanes binds.
describe.each([
  [1_000, 'an agent run', { runCap: '0.01', keyCap: undefined, binding: 'agent_run' }],
  [400, 'an API key', { runCap: undefined, keyCap: '0.006', binding: 'key' }],
  [400, 'a run on a key with a smaller one', { runCap: '0.01', keyCap: '0.005', binding: 'key' }],
] as const)('%i calls at once under the ceiling of %s', (calls, name, { runCap, keyCap, binding }) => {
  test('never settle for more than it, to the nano-dollar, and leave nothing held', async () => {
    billAtRandom(name.length);
    const cap = nano(keyCap ?? runCap ?? '0');
    const { key, key_id } = await account.createKey(keyCap === undefined ? {} : { monthly_cap_usd: keyCap });
    const run = { 'x-agent-run-id': `storm-${key_id}`, ...(runCap !== undefined && { 'x-agent-max-budget': runCap }) };
    const answers = await answersOf(calls, key, run);
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);

    // Every answer is whole, every refusal has its numbers and says whether to wait.
    for (const answered of served) expect(isDone(answered) || completionOf(answered).choices.length > 0).toBe(true);
    for (const answered of refused) {
      const { status, code, budget } = problemOf(answered);
      if (code === 'rate_limited' || code === 'store_unavailable') continue;
      expect([status, code]).toEqual(status === 402 ? [402, 'budget_exceeded'] : [429, 'budget_in_flight']);
      expect(answered.headers.has('retry-after')).toBe(status === 429);
      expect(budget?.limit_source).toBe(binding);
      const [spent, held, required] = [budget?.spent_usd, budget?.held_usd, budget?.required_usd].map((amount) => nano(amount ?? ''));
      expect(Number(spent) + Number(held)).toBeLessThanOrEqual(Number(cap));
      expect(Number(spent) + Number(held) + Number(required)).toBeGreaterThan(Number(cap));
    }
    expect(refused.some(({ status }) => status === 402)).toBe(true);

    const ids = served.map((answered) => header(answered, 'x-request-id'));
    await expect.poll(async () => (await account.usage({ key_id })).total.requests).toBe(served.length);
    await using ledger = await openLedgerAudit(gateway);
    const entries = await ledger.entriesOf(ids);
    expect(entries.size).toBe(served.length);
    const settled = sum([...entries.values()].map(({ cost }) => cost));
    expect(settled).toBeLessThanOrEqual(cap);
    // Worth nothing if the cap were never reached: a call costs at most this much.
    expect(settled).toBeGreaterThan(cap - nano('0.0001'));
    expect((await account.usage({ key_id })).total.cost_usd).toBe(usd(settled));
    expect((await account.usage({ run_id: run['x-agent-run-id'], group_by: 'run' })).total.cost_usd).toBe(usd(settled));
    for (const answered of served) expect(nano(costShown(answered).toFixed(9))).toBe(entries.get(header(answered, 'x-request-id'))?.cost);
    expect(await ledger.faults()).toEqual([]);

    const { budget } = problemOf(await ask(gateway, key, { ...HELLO, max_tokens: 16_384 }, binding === 'key' ? {} : run));
    expect(budget).toMatchObject({ cap_usd: usd(cap), spent_usd: usd(settled), held_usd: '0' });
  });
});

describe('the last of a cap', () => {
  const request = { ...HELLO, max_tokens: MAX_TOKENS };
  let worstCase: string;
  beforeAll(async () => {
    const { key } = await account.createKey({ monthly_cap_usd: '0' });
    worstCase = problemOf(await ask(gateway, key, request)).budget?.required_usd ?? '';
  });

  test('is enough for a request that needs exactly it, and a nano-dollar less is not', async () => {
    const exact = await account.createKey({ monthly_cap_usd: worstCase });
    expect((await ask(gateway, exact.key, request)).status).toBe(200);
    const short = await account.createKey({ monthly_cap_usd: usd(nano(worstCase) - 1n) });
    expect(problemOf(await ask(gateway, short.key, request))).toMatchObject({
      code: 'budget_exceeded',
      budget: { required_usd: worstCase },
    });
  });

  test('is given back to the nano-dollar by what settles for less', async () => {
    // 0.0000063 USD is what the answer costs: after it, exactly the worst case is left.
    const { key } = await account.createKey({ monthly_cap_usd: usd(nano(worstCase) + nano('0.0000063')) });
    expect((await ask(gateway, key, request)).status).toBe(200);
    expect((await ask(gateway, key, request)).status).toBe(200);
    expect(problemOf(await ask(gateway, key, request))).toMatchObject({ budget: { spent_usd: '0.0000126', held_usd: '0' } });
  });

  test('limits the tokens where the caller allows it, and reports that', async () => {
    const { key } = await account.createKey({ monthly_cap_usd: usd(nano(worstCase) - nano('0.000012')) });
    expect((await ask(gateway, key, request)).status).toBe(402);
    const answered = await ask(gateway, key, request, { 'x-budget-policy': 'clamp' });
    expect(answered.status).toBe(200);
    const bound = Number(header(answered, 'x-budget-max-tokens'));
    // A token out costs 0.6 millionths of a dollar: at least twenty of them have to go.
    expect(bound).toBeLessThanOrEqual(MAX_TOKENS - 20);
    expect(bound).toBeGreaterThanOrEqual(16);
    expect(upstream.requests.at(-1)?.body).toMatchObject({ max_tokens: bound });
  });
});
