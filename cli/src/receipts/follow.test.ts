import { model, refusal } from '@tallygate/sdk/testing/fixtures';
import { type StubAnswer, type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const id = (number: number) => `019aa2f1-c2d3-7b6e-8c4d-${String(number).padStart(12, '0')}`;
const receipt = (log_index: number) => ({
  ...{ object: 'receipt.item', id: id(log_index), kind: 'usage', request_id: `req_${log_index}aaaaaaa`, endpoint: '/v1/chat/completions' },
  ...{ model: model.id, run_id: null, livemode: true, outcome: 'completed', cost_usd: '0.1', refund_of: null, log_index },
  ...{ started_at: '2026-11-21T07:00:00.000Z', completed_at: '2026-11-21T07:00:01.000Z' },
});
const page = (indices: readonly number[], has_more = false): StubAnswer => {
  const data = indices.map(receipt);
  return { json: { data, has_more, next_cursor: has_more ? 'next' : null } };
};
const checkpoint: StubAnswer = { text: 'tallygate.example/log\n42\nhash=\n\n— signature\n' };
/** Ends the test; users end it with Ctrl-C. */
const end = refusal('forbidden');
const afters = () => gateway.requests.filter(({ path }) => path === '/v1/receipts').map(({ query }) => query['logged_after']);

it('begins at the end of the log, and continues after the last shown entry, over all pages', async () => {
  gateway.script(checkpoint, page([50, 51], true), page([60]), page([]), end);
  const { stdout, stderr } = await terminal.type(['receipts', 'follow', '--json', 'log_index,model']);
  expect(stdout).toBe([50, 51, 60].map((log_index) => `{"log_index":${log_index},"model":"${model.id}"}\n`).join(''));
  expect(afters()).toEqual(['41', '51', '60', '60']);
  expect(stderr).toContain('Continue with --after 60.');
});

it('continues from the same entry after an interruption, with one note each way', async () => {
  const down: StubAnswer[] = Array.from({ length: 6 }, () => ({ reset: true }));
  gateway.script(page([7]), ...down, page([8]), end);
  const { stdout, stderr } = await terminal.type(['receipts', 'follow', '--after', '3', '--json', 'log_index']);
  expect(stdout).toBe('{"log_index":7}\n{"log_index":8}\n');
  expect(stderr.match(/does not answer/g)).toHaveLength(1);
  expect(stderr.match(/is back/g)).toHaveLength(1);
  expect(afters().filter((after) => after === '7').length).toBeGreaterThan(1);
});

it('asks for one model, run and key where those are named, and shows a pipe tab-separated lines', async () => {
  gateway.script(page([1]), end);
  const { stdout } = await terminal.type([
    'receipts',
    'follow',
    '--after',
    '0',
    '-m',
    'gpt-4o-mini',
    '--key',
    id(1),
    '--run',
    'nightly',
    '--test',
  ]);
  expect(gateway.requests[0]?.query).toMatchObject({ model: 'gpt-4o-mini', key_id: id(1), run_id: 'nightly', livemode: 'false' });
  expect(stdout).toBe(`2026-11-21T07:00:01.000Z\t${model.id}\tcompleted\t0.1 USD\t-\t${id(1)}\n`);
});
