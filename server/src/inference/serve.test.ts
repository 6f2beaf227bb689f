import { afterEach, expect, test } from 'vitest';
import { callOf, openInference, ScriptedProvider } from './inference-under-test.ts';
import { completeCall } from './serve.ts';

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
  expect(await world.settled()).toMatchObject([{ charged: 0n, record: { outcome: 'failed', cost: '0', attempt: 0 } }]);
});
