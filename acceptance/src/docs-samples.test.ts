import { Tallygate } from '@tallygate/sdk';
import { type ExampleGateway, startExampleGateway } from '@tallygate/sdk/testing/example-gateway';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SAMPLES } from '../../docs/samples/index.ts';

let gateway: ExampleGateway;
beforeAll(async () => {
  gateway = await startExampleGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.asked.length = 0;
});

/** As a reader runs it: the client is there, the rest is the sample's. */
async function runSample(code: string): Promise<void> {
  const names = {
    tallygate: new Tallygate({ baseUrl: gateway.url, apiKey: 'tg_test_x' }),
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'tg_test_x' }),
    console: { log: () => {} },
  };
  await new Function(...Object.keys(names), `return (async () => { ${code}\n })()`)(...Object.values(names));
}

test('every sample is of an operation that exists', () => {
  expect(Object.keys(SAMPLES).filter((id) => !gateway.operations.has(id))).toEqual([]);
});

const runnable = Object.entries(SAMPLES).flatMap(([id, { sdk, openai }]) => [
  ...(sdk === undefined ? [] : [[id, 'SDK', sdk] as const]),
  ...(openai === undefined ? [] : [[id, 'OpenAI SDK', openai] as const]),
]);
test.each(runnable)('%s with the %s is that operation', async (id, _, code) => {
  await runSample(code);
  expect(gateway.asked[0]).toBe(id);
});

test('every sample that follows from the contract is that operation, and none is written twice', async () => {
  const samples = [...gateway.operations].flatMap(([id, { sdkSample }]) => (sdkSample === undefined ? [] : [[id, sdkSample] as const]));
  expect(samples.length).toBeGreaterThan(100);
  expect(samples.filter(([id]) => SAMPLES[id]?.sdk !== undefined)).toEqual([]);
  const asked: (string | undefined)[] = [];
  for (const [, code] of samples) {
    gateway.asked.length = 0;
    await runSample(code);
    asked.push(gateway.asked[0]);
  }
  expect(asked).toEqual(samples.map(([id]) => id));
});
