import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startStubGateway } from '../testing/stub-gateway.ts';
import { Tallygate } from './index.ts';

const vector = (name: string) => JSON.parse(readFileSync(new URL(`../../packages/receipts/vectors/${name}.json`, import.meta.url), 'utf8'));
const { receipt } = vector('good/plain');
const keySet = vector('keys');

it('verifies with keys at hand without asking anybody', async () => {
  const offline = new Tallygate({ apiKey: null, baseUrl: 'http://127.0.0.1:9' });
  expect(await offline.receipts.verify(receipt, keySet)).toMatchObject({ valid: true, payload: receipt.payload });
  expect(await offline.receipts.verify(vector('broken/changed-cost').receipt, keySet)).toMatchObject({ valid: false });
});

it('fetches the keys when it is given none', async () => {
  await using gateway = await startStubGateway();
  gateway.script({ json: keySet });
  const tallygate = new Tallygate({ apiKey: null, baseUrl: gateway.baseUrl });
  expect(await tallygate.receipts.verify(receipt)).toMatchObject({ valid: true });
  expect(gateway.requests.map(({ path }) => path)).toEqual(['/.well-known/vaas-keys.json']);
});

it('sees in text what an object can no longer show', async () => {
  const { text, expected_code } = vector('broken/duplicate-member');
  const tallygate = new Tallygate({ apiKey: null });
  expect(await tallygate.receipts.verify(text, keySet)).toMatchObject({ valid: false, code: expected_code });
});
