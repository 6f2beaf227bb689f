import { hash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { laneId } from '../../money/ledger/index.ts';
import { admit } from './admission.ts';
import { asStep } from './run-calls.ts';
import { completeCall, streamCall } from './serve.ts';
import { ACCOUNT, callOf, NOW, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  vi.useRealTimers();
  world?.close();
  world = undefined;
});
const open = (...args: Parameters<typeof openInference>) => {
  world = openInference(...args);
  return world;
};

const OWNER = { accountId: ACCOUNT, livemode: false };
const run = (runId: string) => laneId.run(ACCOUNT, false, runId);
const headers = (runId: string, more: Record<string, string> = {}) => ({ 'x-agent-run-id': runId, ...more });
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'theirs',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
});
const DELTA = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'Hello' } }] })}\n\n`;
const answers = (count: number) => new ScriptedProvider(...Array.from({ length: count }, () => new ScriptedAnswer([ANSWER])));
const refusalOf = (answered: Promise<unknown>): Promise<Problem> =>
  answered.then(
    () => {
      throw new Error('it was let in');
    },
    (thrown: unknown) => {
      if (thrown instanceof Problem) return thrown;
      throw thrown;
    },
  );
const sha256 = (bytes: Buffer) => hash('sha256', bytes, 'hex');
let serial = 0;
const ask = (runId: string, more: Record<string, string> = {}, body: object = { max_tokens: 10 }) => {
  serial += 1;
  const call = { ...callOf(body, { headers: headers(runId, more) }), requestId: `req_${serial}` };
  return completeCall(call, (world ?? open()).deps);
};

describe('a child run', () => {
  test('is held and settled on every run above it too, and recorded with them', async () => {
    const opened = open({ sandbox: answers(3) });
    await ask('root', { 'x-agent-max-budget': '1' });
    await ask('middle', { 'x-agent-parent-run-id': 'root' });
    const { headers: told } = await ask('leaf', { 'x-agent-parent-run-id': 'middle', 'x-agent-max-budget': '0.5' });
    const spent = await opened.lanes.inspect(['root', 'middle', 'leaf'].map(run));
    const each = 10n * 150n + 2n * 600n;
    expect([...spent.values()].map((lane) => lane.spent)).toEqual([3n * each, 2n * each, each]);
    expect([...spent.values()].every(({ held }) => held === 0n)).toBe(true);
    expect(told).toMatchObject({ 'x-agent-budget-limit-usd': '0.5', 'x-agent-budget-spent-usd': '0.0000027' });
    expect((await opened.settled()).map(({ record: { runId, ancestorRunIds } }) => [runId, ancestorRunIds])).toEqual([
      ['root', undefined],
      ['middle', ['root']],
      ['leaf', ['middle', 'root']],
    ]);
  });

  test('is refused where a run above has not enough left, and told so', async () => {
    open({ sandbox: answers(1) });
    await ask('root', { 'x-agent-max-budget': '0.00007' });
    const refusal = await refusalOf(ask('leaf', { 'x-agent-parent-run-id': 'root', 'x-agent-max-budget': '1' }, { max_tokens: 200 }));
    expect(refusal).toMatchObject({ code: 'budget_exceeded', message: expect.stringContaining('a run above this agent run') });
    expect(refusal.extras.headers).toMatchObject({ 'x-agent-budget-limit-usd': '1', 'x-agent-budget-remaining-usd': '0.0000673' });
  });

  test.each([
    ['itself', 'a', 'a', 'the run itself'],
    ['a run that is not there', 'a', 'nobody', 'names no run'],
    ['another than at first', 'leaf', 'other', 'whose parent is root'],
    ['one after it began without', 'root', 'leaf', 'was begun without a parent'],
  ])('cannot name %s as its parent', async (_title, runId, parent, told) => {
    open({ sandbox: answers(3) });
    await ask('root');
    await ask('other');
    await ask('leaf', { 'x-agent-parent-run-id': 'root' });
    const refusal = await refusalOf(ask(runId, { 'x-agent-parent-run-id': parent }));
    expect(refusal).toMatchObject({ code: 'validation_failed', message: expect.stringContaining(told) });
  });

  test('may lie below eight runs and no more', async () => {
    open({ sandbox: answers(9) });
    await ask('r0');
    for (let depth = 1; depth <= 8; depth += 1) await ask(`r${depth}`, { 'x-agent-parent-run-id': `r${depth - 1}` });
    expect((await refusalOf(ask('r9', { 'x-agent-parent-run-id': 'r8' }))).code).toBe('validation_failed');
  });

  test('needs not name its parent again', async () => {
    const opened = open({ sandbox: answers(3) });
    await ask('root');
    await ask('leaf', { 'x-agent-parent-run-id': 'root' });
    await ask('leaf');
    expect((await opened.lanes.inspect([run('root')])).get(run('root'))?.spent).toBe(3n * 2_700n);
  });

  test('and its parents never spend and hold more than any ceiling, however their calls interleave', async () => {
    const chains = ['root', 'left', 'right', 'leaf'] as const;
    const parents: Record<(typeof chains)[number], string | undefined> = { root: undefined, left: 'root', right: 'root', leaf: 'left' };
    const calls = fc.array(
      fc.record({
        of: fc.constantFrom(...chains),
        tokens: fc.integer({ min: 1, max: 60 }),
        used: fc.double({ min: 0, max: 1, noNaN: true }),
        waits: fc.nat(3),
      }),
      {
        minLength: 1,
        maxLength: 25,
      },
    );
    const caps = fc.record(Object.fromEntries(chains.map((name) => [name, fc.integer({ min: 20_000, max: 400_000 })])));
    await fc.assert(
      fc.asyncProperty(caps, calls, async (ceilings, steps) => {
        const { deps, lanes, close } = openInference({ sandbox: answers(0) });
        const within = async () => {
          for (const [id, { spent, held, cap }] of await lanes.inspect(chains.map(run)))
            if (cap !== null && spent + held > cap) throw new Error(`${id}: ${spent} + ${held} > ${cap}`);
        };
        const enter = (name: (typeof chains)[number], tokens: number, more: Record<string, string> = {}) => {
          const parent = parents[name];
          const call = callOf(
            { max_tokens: tokens },
            { headers: headers(name, { ...(parent && { 'x-agent-parent-run-id': parent }), ...more }) },
          );
          return asStep(call, deps, async (step) => admit(step, deps)).catch(() => undefined);
        };
        for (const name of chains) {
          const begun = await enter(name, 1, { 'x-agent-max-budget': `0.${String(ceilings[name]).padStart(9, '0')}` });
          if (begun) await lanes.release(begun.call.receiptId);
        }
        await Promise.all(
          steps.map(async ({ of, tokens, used, waits }) => {
            for (let turn = 0; turn < waits; turn += 1) await new Promise(setImmediate);
            const admission = await enter(of, tokens);
            await within();
            if (!admission) return;
            for (let turn = 0; turn < waits; turn += 1) await new Promise(setImmediate);
            const cost = BigInt(Math.floor(Number(admission.hold.amount) * used));
            await lanes.settle({ holdId: admission.call.receiptId, cost, units: {}, record: '{}' });
            await within();
          }),
        );
        await within();
        const held = [...(await lanes.inspect(chains.map(run))).values()].map((lane) => lane.held);
        expect(held).toEqual([0n, 0n, 0n, 0n]);
        close();
      }),
      { numRuns: 40 },
    );
  });
});

describe('a run’s calls', () => {
  test('are bounded by what the first request says, and later ones only tighten it', async () => {
    const opened = open({ sandbox: answers(9) });
    const first = await ask('a', { 'x-agent-max-calls': '3' });
    expect(first.headers).toMatchObject({ 'x-agent-calls-limit': '3', 'x-agent-calls-remaining': '2' });
    expect((await ask('a', { 'x-agent-max-calls': '100' })).headers).toMatchObject({
      'x-agent-calls-limit': '3',
      'x-agent-calls-remaining': '1',
    });
    const refusal = await refusalOf(ask('a', { 'x-agent-max-calls': '2' }));
    expect(refusal).toMatchObject({ code: 'run_exhausted', status: 402, message: expect.stringContaining('the 2 calls') });
    expect(refusal.extras.headers).toMatchObject({ 'x-agent-calls-limit': '2', 'x-agent-calls-remaining': '0' });
    expect(opened.runStore.callsOf(OWNER, 'a')).toBe(2);
  });

  test('never come to more than that, however many are made at once', async () => {
    open({ sandbox: answers(20) });
    await ask('root', { 'x-agent-max-calls': '6' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 15 }, (_, index) => (index % 2 ? ask('root') : ask('leaf', { 'x-agent-parent-run-id': 'root' }))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  test('do not count where they are refused for another reason', async () => {
    const opened = open({ sandbox: answers(1) });
    await ask('a', { 'x-agent-max-calls': '3', 'x-agent-max-budget': '0.001' });
    await refusalOf(ask('a', {}, { max_tokens: 16_000 }));
    expect(opened.runStore.callsOf(OWNER, 'a')).toBe(1);
  });
});

describe('a deadline', () => {
  test('in seconds or as a time, is told, and refuses what comes after it', async () => {
    const opened = open({ sandbox: answers(3) });
    const deadline = '2026-11-21T12:10:00.000Z';
    expect((await ask('a', { 'x-agent-deadline': '600' })).headers).toMatchObject({ 'x-agent-deadline': deadline });
    // A step that says the same in seconds is later, and so ignored.
    opened.clock.at = NOW + 60_000;
    expect((await ask('a', { 'x-agent-deadline': '2026-11-21T20:00:00+02:00' })).headers).toMatchObject({ 'x-agent-deadline': deadline });
    opened.clock.at = NOW + 600_000;
    expect(await refusalOf(ask('a'))).toMatchObject({ code: 'run_exhausted', message: expect.stringContaining(deadline) });
  });

  test('stops a running call at once, and charges what the provider goes on to bill', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { promise, resolve } = Promise.withResolvers<void>();
    const opened = open({ sandbox: new ScriptedProvider(new ScriptedAnswer([ANSWER], 'complete', promise)) });
    const answered = ask('a', { 'x-agent-deadline': '5' });
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(5_000);
    const reply = await answered;
    expect([reply.status, JSON.parse(String(reply.body)).code]).toEqual([402, 'run_exhausted']);
    resolve();
    await expect.poll(() => opened.served.length).toBe(1);
    expect((await opened.settled()).map(({ record }) => record)).toMatchObject([
      { outcome: 'cancelled', estimated: false, usage: { output_tokens: 2 }, responseSha256: sha256(reply.body) },
    ]);
  });
});

describe('a run that is closed', () => {
  test('stops its plain calls and those of its children with a problem, settled, and lets no more in', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = () => new ScriptedAnswer([ANSWER], 'complete', promise);
    const opened = open({ sandbox: new ScriptedProvider(new ScriptedAnswer([ANSWER]), held(), held()) });
    await ask('root');
    const running = [ask('root'), ask('leaf', { 'x-agent-parent-run-id': 'root' })];
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    await opened.runStore.close(OWNER, 'root', NOW, async () => {});
    opened.runs.heard(`closed ${run('root')}`);
    for (const reply of await Promise.all(running))
      expect([reply.status, JSON.parse(String(reply.body)).code]).toEqual([403, 'run_closed']);
    resolve();
    await expect.poll(() => opened.served.length).toBe(3);
    expect((await opened.settled()).map(({ record }) => record.outcome)).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(await opened.held(run('root'))).toBe(0n);
    for (const name of ['root', 'leaf']) expect(await refusalOf(ask(name))).toMatchObject({ code: 'run_closed', status: 403 });
    expect((await refusalOf(ask('late', { 'x-agent-parent-run-id': 'root' }))).code).toBe('run_closed');
  });

  test('ends its streams with an error event, and charges what was generated', async () => {
    const opened = open({ sandbox: new ScriptedProvider(new ScriptedAnswer([DELTA], 'open')) });
    const client = opened.openClient();
    const streamed = streamCall(callOf({ max_tokens: 10, stream: true }, { headers: headers('a') }), client.res, opened.deps);
    await expect.poll(() => client.socket.body.toString()).toContain('Hello');
    opened.runs.closed(OWNER, 'a');
    await streamed;
    expect(client.socket.body.toString()).toContain('"code":"run_closed"');
    const [settled] = await opened.settled();
    expect(settled?.record).toMatchObject({ outcome: 'cancelled', estimated: true });
    expect(settled?.record.usage.output_tokens).toBeGreaterThan(0);
    expect(settled?.record.responseSha256).toBe(sha256(client.socket.body));
  });

  test('is read once for as long as changes are heard, and every time while they are not', async () => {
    const opened = open({ sandbox: answers(6) });
    await ask('a');
    const before = opened.runStore.reads;
    await ask('a');
    expect(opened.runStore.reads).toBe(before);
    opened.runs.disconnected();
    await ask('a');
    await opened.runStore.close(OWNER, 'a', NOW, async () => {});
    expect((await refusalOf(ask('a'))).code).toBe('run_closed');
  });

  test('while nobody could hear it, stops what runs as soon as changes are heard again', async () => {
    const opened = open({ sandbox: new ScriptedProvider('silence') });
    const running = ask('a');
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    opened.runs.disconnected();
    await opened.runStore.close(OWNER, 'a', NOW, async () => {});
    opened.runs.listening();
    expect((await running).status).toBe(403);
  });
});
