import { afterEach, expect, test } from 'vitest';
import type { LaneStore } from '../adapters/lanes/port.ts';
import { completeCall } from './serve.ts';
import { callOf, openInference, ScriptedAnswer, ScriptedProvider } from './testing/inference.ts';

const KEY_LANE = 'key:key-1:2026-11';

let world: ReturnType<typeof openInference> | undefined;
afterEach(() => {
  world?.close();
  world = undefined;
});

test('a defect behind admission leaves no hold and charges nothing, and is not hidden', async () => {
  const withoutScript = new ScriptedProvider();
  world = openInference({ live: { 'gpt-4o-mini': [withoutScript] } });
  await expect(completeCall(callOf({}, { livemode: true }), world.deps)).rejects.toThrow('the script does not have');
  expect((await world.deps.lanes.inspect([KEY_LANE])).get(KEY_LANE)).toMatchObject({ spent: 0n, held: 0n });
  expect(await world.settled()).toMatchObject([{ charged: 0n, record: { outcome: 'failed', cost: '0', attempt: 1 } }]);
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
