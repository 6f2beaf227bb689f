import { KEY_ID } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const usage = { input_tokens: 9, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 6, reasoning_tokens: 0 };
const money = { cost_usd: '0.00000495', charged_usd: '0.000001' };
const made = { receipt_id: KEY_ID, account_id: KEY_ID, request_id: 'req_1', reason: 'Counted twice.', ...money };

it('corrects the usage of a request, and shows the new cost', async () => {
  const before = { cost_before_usd: '0.00000855', charged_before_usd: '0.000002' };
  gateway.script({
    status: 201,
    json: { ...made, ...before, correction_id: KEY_ID, corrects: KEY_ID, usage, corrected_at: '2026-11-21T08:00:00.000Z' },
  });
  const argv = ['receipts', 'correct', 'req_1', '--usage', 'input_tokens=9,output_tokens=6', '--reason', 'Counted twice.'];
  const { stdout } = await terminal.type(argv, { apiKey: 'tg_live_secret', isTty: true });
  expect(stdout).toContain('9 tokens in, 6 out');
  expect(stdout).toContain('0.00000495 USD, before 0.00000855');
  expect(gateway.requests[0]).toMatchObject({
    path: '/v1/admin/corrections',
    body: { request_id: 'req_1', usage, reason: 'Counted twice.' },
  });
});

it('gives back all that a request cost', async () => {
  gateway.script({ status: 201, json: { ...made, refund_id: KEY_ID, refund_of: KEY_ID, refunded_at: '2026-11-21T08:00:00.000Z' } });
  const argv = ['receipts', 'refund', 'req_1', '--reason', 'Goodwill.'];
  const { stdout } = await terminal.type(argv, { apiKey: 'tg_live_secret', isTty: true });
  expect(stdout).toContain('0.00000495 USD, of which 0.000001 had been charged');
  expect(gateway.requests[0]).toMatchObject({ path: '/v1/admin/refunds', body: { request_id: 'req_1', reason: 'Goodwill.' } });
});

it.each(['9', 'input_tokens', 'input_tokens=-1', 'input_tokens=1.5'])('takes no %s as usage', async (text) => {
  const { exitCode } = await terminal.type(['receipts', 'correct', 'req_1', '--usage', text, '--reason', 'x'], {
    apiKey: 'tg_live_secret',
  });
  expect(exitCode).toBe(2);
  expect(gateway.requests).toHaveLength(0);
});
