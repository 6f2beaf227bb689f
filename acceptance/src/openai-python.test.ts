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
  if (hasSdk) gateway = await Gateway.start({ process: 'shared' });
});
afterAll(() => gateway?.remove());

test.skipIf(!hasSdk)('the OpenAI SDK for Python, where it is installed, answers, streams and raises its own errors', async () => {
  const { base_url = '', test_api_key = '' } = gateway?.bootstrap ?? {};
  const { stdout } = await run(python, [fileURLToPath(new URL('openai-python.py', import.meta.url)), base_url, test_api_key]);
  const saw: { chats: { plain: string; cost: number } } = JSON.parse(stdout);
  expect(saw.chats).toEqual({
    plain: expect.stringContaining('Say hello.'),
    cost: expect.any(Number),
    streamed: saw.chats.plain,
    streamed_cost: saw.chats.cost,
    models: expect.arrayContaining([MODEL]),
    unknown_model: ['NotFoundError', 404, 'model_not_found'],
    out_of_range: ['BadRequestError', 400, 'validation_failed'],
    no_money: ['APIStatusError', 402, 'insufficient_quota'],
  });
  const gone = ['NotFoundError', 404, 'not_found'];
  expect(saw).toMatchObject({
    stored_chats: { listed: true, messages: [['user', 'Say 0.']], metadata: { from: 'elsewhere' }, deleted: true, gone },
    responses: {
      said: true,
      ends: ['response.created', 'response.completed'],
      chained: 'completed',
      counted: true,
      gone,
      items: ['user', 'assistant'],
    },
    modalities: {
      norm: 1,
      dimensions: 64,
      png: 'PNG',
      heard: 'The ledger sums to zero.',
      file: 'kept',
      flagged: [false, true],
    },
  });
});
