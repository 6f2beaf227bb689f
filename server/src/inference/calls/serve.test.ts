import { afterEach, describe, expect, test } from 'vitest';
import type { LaneStore } from '../../adapters/lanes/port.ts';
import { completeCall } from './serve.ts';
import { callOf, faulty, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

const KEY_LANE = 'key:key-1:2026-11';

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

test('a defect before any provider has answered leaves no hold and charges nothing, and is not hidden', async () => {
  const withoutScript = new ScriptedProvider();
  world = openInference({ live: { 'gpt-4o-mini': [withoutScript] } });
  await expect(completeCall(callOf({}, { livemode: true }), world.deps)).rejects.toThrow('the script does not have');
  expect((await world.deps.lanes.inspect([KEY_LANE])).get(KEY_LANE)).toMatchObject({ spent: 0n, held: 0n });
  expect(await world.settled()).toMatchObject([{ charged: 0n, record: { outcome: 'failed', cost: '0', attempt: 1 } }]);
});

const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' } }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});

test('a call that its second provider answers is settled under the name that it was begun with', async () => {
  world = openInference({
    live: { 'gpt-4o-mini': [new ScriptedProvider(faulty('failed')), new ScriptedProvider(new ScriptedAnswer([ANSWER]))] },
  });
  const call = callOf({}, { livemode: true });
  await completeCall(call, world.deps);
  const [settled] = await world.settled();
  expect(settled?.record.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'answered']);
  expect(settled?.record.attempt).toBe(world.journal.begun.get(call.receiptId)?.attempt);
});

describe('a call that fails behind its provider’s answer', () => {
  const failing = (keep: () => Promise<void>) => {
    const call = callOf({}, { livemode: true });
    return { ...call, work: { ...call.work, keep } };
  };

  test('costs what the provider bills, and leaves no hold', async () => {
    world = openInference({ live: { 'gpt-4o-mini': [new ScriptedProvider(new ScriptedAnswer([ANSWER]))] } });
    const away = failing(() => Promise.reject(new Error('the database is away')));
    await expect(completeCall(away, world.deps)).rejects.toThrow('the database is away');
    expect(await world.held(KEY_LANE)).toBe(0n);
    expect(await world.settled()).toMatchObject([{ record: { outcome: 'abandoned', usage: { input_tokens: 100, output_tokens: 10 } } }]);
  });

  test('costs that once the journal can be written again', async () => {
    world = openInference({ live: { 'gpt-4o-mini': [new ScriptedProvider(new ScriptedAnswer([ANSWER]))] } });
    const { deps, journal } = world;
    const full = failing(() => {
      journal.isBroken = true;
      return Promise.reject(new Error('the disk is full'));
    });
    await expect(completeCall(full, deps)).rejects.toThrow('the disk is full');
    expect(await world.held(KEY_LANE)).toBeGreaterThan(0n);
    journal.isBroken = false;
    await deps.unsettled.tryAgain();
    expect([await world.held(KEY_LANE), deps.unsettled.size]).toEqual([0n, 0]);
    expect(await world.settled()).toMatchObject([{ record: { outcome: 'abandoned', usage: { input_tokens: 100, output_tokens: 10 } } }]);
  });
});

/** The lanes, but for the mark that a provider is at work. */
const withBegin = (lanes: LaneStore, begin: LaneStore['begin']): LaneStore =>
  new Proxy(lanes, {
    get(target, name) {
      if (name === 'begin') return begin;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

test('no provider is asked before it is durable what settles the call should this process die', async () => {
  const provider = new ScriptedProvider(new ScriptedAnswer(['{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi."}}]}']));
  world = openInference({ live: { 'gpt-4o-mini': [provider] } });
  const { deps } = world;
  const begun = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const lanes = withBegin(deps.lanes, () => {
    reached.resolve();
    return begun.promise;
  });
  const answered = completeCall(callOf({}, { livemode: true }), { ...deps, lanes });
  await reached.promise;
  await new Promise(setImmediate);
  expect(provider.calls).toHaveLength(0);
  begun.resolve();
  expect((await answered).status).toBe(200);
});

test('what cannot be made durable is not started, and holds nothing', async () => {
  const provider = new ScriptedProvider();
  world = openInference({ live: { 'gpt-4o-mini': [provider] } });
  const lanes = withBegin(world.deps.lanes, () => Promise.reject(new Error('READONLY')));
  const refused = completeCall(callOf({}, { livemode: true }), { ...world.deps, lanes });
  await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(provider.calls).toHaveLength(0);
  expect(await world.held(KEY_LANE)).toBe(0n);
  expect(await world.settled()).toEqual([]);
});
