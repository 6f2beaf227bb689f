import { auditEntry, KEY_ID } from '@tallygate/sdk/testing/fixtures';
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

const page = (data: object[], next_cursor: string | null = null) => ({ json: { data, has_more: next_cursor !== null, next_cursor } });
const lastCell = (line: string) => line.trimEnd().split('\t').at(-1);

it('lists who changed what, from where', async () => {
  gateway.script(page([auditEntry(1)]));
  const { stdout } = await terminal.type(['audit', 'list']);
  const { actor, created_at } = auditEntry(1);
  expect(stdout).toBe(`${created_at}\tkey.created\tuser ${actor.id}\tkey ${KEY_ID}\t203.0.113.7\tmonthly_cap_usd: - → 25\n`);
  expect(gateway.requests[0]?.query).toEqual({ limit: '51' });
});

it.each([
  [{ name: 'production', livemode: true }, 'name: production, livemode: true'],
  [{ from: 'a', to: 'b' }, 'from: a, to: b'],
  [{ allowed_models: { from: ['a'], to: null } }, 'allowed_models: ["a"] → -'],
  [{}, '-'],
])('shows the changes %j as "%s"', async (changes, text) => {
  gateway.script(page([{ ...auditEntry(1), changes }]));
  expect(lastCell((await terminal.type(['audit', 'list'])).stdout)).toBe(text);
});

it('counts durations back from now, and takes days as they are', async () => {
  gateway.script(page([]));
  await terminal.type(['audit', 'list', '--since', '1d', '--until', '2026-11-21', '--action', 'key.created']);
  expect(gateway.requests[0]?.query).toEqual({
    limit: '51',
    action: 'key.created',
    from: '2026-11-20T08:00:00.000Z',
    to: '2026-11-21T00:00:00Z',
  });
});

it('fetches as many pages as requested, and reports that the list continues', async () => {
  const entries = Array.from({ length: 202 }, (_, index) => auditEntry(300 - index));
  gateway.script(page(entries.slice(0, 200), 'next'), page(entries.slice(200), 'more'));
  const { stdout, stderr } = await terminal.type(['audit', 'list', '--limit', '201'], { apiKey: 'tg_test_secret', isTty: true });
  expect(stdout.trimEnd().split('\n')).toHaveLength(202);
  expect(stderr).toBe('The first 201; --limit or --all shows more.\n');
  expect(gateway.requests.map(({ query }) => query)).toEqual([{ limit: '200' }, { limit: '200', cursor: 'next' }]);
});

it('fetches every page with --all', async () => {
  const entries = Array.from({ length: 60 }, (_, index) => auditEntry(300 - index));
  gateway.script(page(entries.slice(0, 50), 'next'), page(entries.slice(50)));
  const { stdout, stderr } = await terminal.type(['audit', 'list', '--all'], { apiKey: 'tg_test_secret', isTty: true });
  expect(stdout.trimEnd().split('\n')).toHaveLength(61);
  expect(stderr).toBe('');
});

it('shows administrators other accounts, or all of them', async () => {
  gateway.script(page([]), page([]));
  await terminal.type(['audit', 'list', '--account', 'all']);
  await terminal.type(['audit', 'list', '--account', KEY_ID]);
  expect(gateway.requests.map(({ path, query }) => [path, query['account_id']])).toEqual([
    ['/v1/admin/audit-log', undefined],
    ['/v1/admin/audit-log', KEY_ID],
  ]);
});
