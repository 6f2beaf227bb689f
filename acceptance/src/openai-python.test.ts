import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
/** `PYTHON` may name one of a virtual environment; nothing is installed for this test. */
const python = process.env['PYTHON'] ?? 'python3';
const hasSdk = spawnSync(python, ['-c', 'import openai']).status === 0;

let gateway: Gateway | undefined;
beforeAll(async () => {
  if (hasSdk) gateway = await Gateway.start();
});
afterAll(() => gateway?.remove());

test.skipIf(!hasSdk)('the OpenAI SDK for Python, where it is installed, answers, streams and raises its own errors', async () => {
  const { base_url = '', test_api_key = '' } = gateway?.bootstrap ?? {};
  const { stdout } = await run(python, [fileURLToPath(new URL('openai-python.py', import.meta.url)), base_url, test_api_key]);
  const saw: { plain: string; cost: number } = JSON.parse(stdout);
  expect(saw).toEqual({
    plain: expect.stringContaining('Say hello.'),
    cost: expect.any(Number),
    streamed: saw.plain,
    streamed_cost: saw.cost,
    models: expect.arrayContaining([MODEL]),
    unknown_model: ['NotFoundError', 404, 'model_not_found'],
    out_of_range: ['UnprocessableEntityError', 422, 'validation_failed'],
    no_money: ['APIStatusError', 402, 'budget_exceeded'],
  });
});
