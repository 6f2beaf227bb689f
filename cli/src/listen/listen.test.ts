import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '@tallygate/sdk';
import { refusal } from '@tallygate/sdk/testing/fixtures';
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

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const event = (sequence: number, type = 'key.created') => ({
  ...{ type, id: ID, timestamp: '2026-11-21T08:00:00.000Z', account_id: ID, sequence },
  data: { key_id: ID, name: 'search', livemode: true },
});
const page = (...data: object[]): StubAnswer => ({ json: { data, has_more: false, next_cursor: null } });
/** Ends the test; users end it with Ctrl-C. */
const end = refusal('forbidden');
const afters = () => gateway.requests.map(({ query }) => query['after_sequence']);

it('begins after the newest event, and asks for the ones after the last that was shown', async () => {
  gateway.script(page(event(41)), page(event(50), event(51)), page(), page(event(60)), end);
  const { stdout, stderr } = await terminal.type(['listen', '--json', 'sequence,type']);
  expect(stdout).toBe([50, 51, 60].map((sequence) => `{"sequence":${sequence},"type":"key.created"}\n`).join(''));
  expect(afters()).toEqual([undefined, '41', '51', '51', '60']);
  expect(stderr).toContain('Continue with --after 60.');
});

it('shows a pipe tab-separated lines, of the named types alone', async () => {
  gateway.script(page(event(4), event(5, 'key.revoked')), end);
  const { stdout } = await terminal.type(['listen', '--after', '3', '--type', 'key.revoked']);
  expect(stdout).toBe(`2026-11-21T08:00:00.000Z\tkey.revoked\tkey_id=${ID} name=search livemode=true\n`);
});

it('continues from the same event after an interruption, with one note each way', async () => {
  const down: StubAnswer[] = Array.from({ length: 6 }, () => ({ reset: true }));
  gateway.script(page(event(7)), ...down, page(event(8)), end);
  const { stdout, stderr } = await terminal.type(['listen', '--after', '3', '--json', 'sequence']);
  expect(stdout).toBe('{"sequence":7}\n{"sequence":8}\n');
  expect(stderr.match(/does not answer/g)).toHaveLength(1);
  expect(stderr.match(/is back/g)).toHaveLength(1);
});

it('forwards events as a webhook would, signed with the secret that it names', async () => {
  const verified: unknown[] = [];
  let secret = '';
  const receiver = createServer(async (req, res) => {
    verified.push({ body: await text(req), headers: req.headers });
    res.writeHead(verified.length === 1 ? 200 : 500).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  gateway.script(page(event(4), event(5)), end);
  const { stderr } = await terminal.type(['listen', '--after', '3', '--forward-to', url]);
  receiver.close();
  secret = /whsec_\S+/.exec(stderr)?.[0] ?? '';
  expect(stderr).toContain('key.created -> 200\nkey.created -> 500\n');
  for (const one of verified as { body: string; headers: Record<string, string> }[])
    expect(await verifyWebhook(one.body, one.headers, { secret })).toMatchObject({ id: ID, type: 'key.created' });
});

it('says so where nothing answers at the address, and goes on', async () => {
  gateway.script(page(event(4), event(5)), end);
  const { stderr } = await terminal.type(['listen', '--after', '3', '--forward-to', 'http://127.0.0.1:9/', '--secret', 'whsec_AAAA']);
  expect(stderr.match(/not delivered/g)).toHaveLength(2);
  expect(stderr).not.toContain('signed with');
});

it('refuses an address that is none, and a secret that is none', async () => {
  expect((await terminal.type(['listen', '--after', '0', '--forward-to', 'localhost'])).exitCode).toBe(2);
  expect((await terminal.type(['listen', '--after', '0', '--forward-to', 'http://127.0.0.1:9/', '--secret', 'abc'])).exitCode).toBe(2);
});
