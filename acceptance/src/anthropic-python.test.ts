import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';

const run = promisify(execFile);
/** `PYTHON` may name one of a virtual environment; nothing is installed for this test. */
const python = process.env['PYTHON'] ?? 'python3';
const hasSdk = spawnSync(python, ['-c', 'import anthropic']).status === 0;

let gateway: Gateway | undefined;
beforeAll(async () => {
  if (hasSdk) gateway = await Gateway.start({ process: 'shared' });
});
afterAll(() => gateway?.remove());

test.skipIf(!hasSdk)('the Anthropic SDK for Python, where it is installed, answers, streams and raises its own errors', async () => {
  const { url = '', bootstrap } = gateway ?? {};
  const script = fileURLToPath(new URL('anthropic-python.py', import.meta.url));
  const { stdout } = await run(python, [script, url, bootstrap?.test_api_key ?? '']);
  const saw: { plain: string } = JSON.parse(stdout);
  expect(saw).toEqual({
    plain: expect.stringContaining('Say hello.'),
    cost: expect.any(Number),
    streamed: saw.plain,
    stop_reason: 'end_turn',
    called: ['tool_use', 'look'],
    went_on: 'message',
    counted: true,
    models: true,
    batch: ['message_batch', true],
    stranger: ['AuthenticationError', 401, 'authentication_error'],
    unknown_model: ['NotFoundError', 404, 'not_found_error'],
    out_of_range: ['BadRequestError', 400, 'invalid_request_error'],
    no_money: ['PaymentRequiredError', 402, 'billing_error'],
  });
});
