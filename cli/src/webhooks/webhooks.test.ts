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

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const at = '2026-11-21T08:00:00.000Z';
const webhook = {
  ...{ webhook_id: ID, owner: 'account', url: 'https://example.com/hook', description: '', format: 'standard', event_types: null },
  ...{ status: 'enabled', disabled_reason: null, failing_since: null, previous_secret_expires_at: null, created_at: at, updated_at: at },
};
const event = { type: 'webhook.test', id: ID, timestamp: at, account_id: ID, sequence: 7, data: { webhook_id: ID } };
const delivery = {
  ...{ delivery_id: ID, webhook_id: ID, event, status: 'failed', next_attempt_at: null, created_at: at },
  attempts: [{ at, status_code: 500, error: 'rejected', duration_ms: 12 }],
};
const page = (data: unknown[]) => ({ json: { data, has_more: false, next_cursor: null } });

it('a webhook is created with the types that are named, and its secret is shown', async () => {
  gateway.script({ status: 201, json: { ...webhook, secret: 'whsec_abc' } });
  const { stdout } = await terminal.type(['webhooks', 'create', webhook.url, '--type', 'key.created', 'key.revoked', '--format', 'slack']);
  expect(stdout).toContain('Secret\twhsec_abc\n');
  const body = { url: webhook.url, owner: 'account', format: 'slack', event_types: ['key.created', 'key.revoked'] };
  expect(gateway.requests[0]).toMatchObject({ method: 'POST', path: '/v1/webhook-endpoints', body });
});

it('webhooks of the gateway are listed by their owner', async () => {
  gateway.script(page([webhook]));
  const { stdout } = await terminal.type(['webhooks', 'list', '--gateway']);
  expect(stdout).toBe(`${ID}\thttps://example.com/hook\tstandard\tall\tenabled\n`);
  expect(gateway.requests[0]?.query).toMatchObject({ owner: 'gateway' });
});

it('a webhook is enabled, rotated, tested and deleted', async () => {
  gateway.script(
    { json: webhook },
    { json: { ...webhook, secret: 'whsec_new' } },
    { status: 202, json: { event_id: ID } },
    { status: 204 },
  );
  await terminal.type(['webhooks', 'update', ID, '--enable', '--all-types']);
  expect((await terminal.type(['webhooks', 'rotate', ID, '--grace', '60'])).stdout).toContain('whsec_new');
  expect((await terminal.type(['webhooks', 'test', ID, '--json', 'event_id'])).stdout).toBe(`{"event_id":"${ID}"}\n`);
  expect((await terminal.type(['webhooks', 'delete', ID])).stderr).toBe(`Deleted ${ID}.\n`);
  expect(gateway.requests.map(({ method, body }) => [method, body])).toEqual([
    ['PATCH', { event_types: null, enabled: true }],
    ['POST', { grace_seconds: 60 }],
    ['POST', undefined],
    ['DELETE', undefined],
  ]);
});

it('deliveries are shown with their last answer, and sent again since a time or one by one', async () => {
  gateway.script(page([delivery]), { json: { replayed: 3 } }, { json: { ...delivery, status: 'pending' } });
  const { stdout } = await terminal.type(['webhooks', 'deliveries', ID, '--status', 'failed']);
  expect(stdout).toBe(`${ID}\twebhook.test\tfailed\t1\t500\t\n`);
  expect((await terminal.type(['webhooks', 'replay', ID, '--since', at])).stdout).toBe('Sent again\t3\n');
  expect((await terminal.type(['webhooks', 'replay', ID, '--delivery', ID])).stdout).toContain('status\tpending\n');
  expect(gateway.requests.map(({ path }) => path.replaceAll(ID, 'ID'))).toEqual([
    '/v1/webhook-endpoints/ID/deliveries',
    '/v1/webhook-endpoints/ID/replay',
    '/v1/webhook-endpoints/ID/deliveries/ID/replay',
  ]);
});
