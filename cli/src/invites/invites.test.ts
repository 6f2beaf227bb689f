import { exampleAnswer } from '@tallygate/sdk/testing/contract-examples';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const batch = exampleAnswer('invites.createBatch', 201);

describe('invites', () => {
  it('send mails everyone in the file', async () => {
    terminal.files.set('guests.txt', 'Ada Lovelace <ada@example.com>\r\n\ngrace@example.com\n');
    terminal.files.set('hello.txt', 'Hello {{name}}.\n');
    gateway.script({ status: 201, json: batch });
    const gift = ['--plan', 'pro', '--days', '30', '--credit', '10'];
    const argv = ['invites', 'send', 'Spring', '--to', 'guests.txt', '--message', 'hello.txt', '--expires', '30d', ...gift];
    const { stdout, exitCode } = await terminal.type(argv);
    expect(gateway.requests[0]?.body).toEqual({
      name: 'Spring',
      recipients: [{ name: 'Ada Lovelace', email: 'ada@example.com' }, { email: 'grace@example.com' }],
      message: 'Hello {{name}}.',
      ...{ plan_id: 'pro', trial_days: 30, credit_usd: '10', expires_at: '2026-12-21T08:00:00.000Z' },
    });
    expect([stdout.split('\n').slice(3, 5), exitCode]).toEqual([
      ['gives\tpro for 30 days, 10 USD', 'mails\t1 of 3 sent, 0 unconfirmed, 0 failed, 0 suppressed'],
      0,
    ]);
  });

  it('send invites everyone who matches a filter, or all people only with --everybody', async () => {
    gateway.script({ status: 201, json: batch }, { status: 201, json: batch });
    const send = ['invites', 'send', 'Spring', '--expires', '2027-01-31'];
    await terminal.type([...send, '--event', 'launch', '--consent', 'given', '--plan-tier', 'free', '--plan', 'pro', '--days', '30']);
    await terminal.type([...send, '--everybody']);
    expect(gateway.requests.map(({ body }) => body)).toMatchObject([
      { filter: { event_slug: 'launch', consent: 'given', plan_tier: 'free' }, plan_id: 'pro' },
      { filter: {} },
    ]);
    const nobody = await terminal.type(send);
    const both = await terminal.type([...send, '--shared', '3', '--event', 'launch']);
    expect([nobody.exitCode, both.exitCode, gateway.requests.length]).toEqual([2, 2, 2]);
  });

  it('send prints a code that is given away once, and alone on stdout', async () => {
    gateway.script({ status: 201, json: { ...batch, code: 'tgi_secret', shared_uses: 100 } });
    expect(await terminal.type(['invites', 'send', 'Spring', '--shared', '100', '--expires', '2027-01-31'])).toEqual({
      stdout: 'tgi_secret\n',
      stderr: `Batch ${ID}. Keep the code now: it is not shown again.\n`,
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toEqual({ name: 'Spring', shared_uses: 100, expires_at: '2027-01-31T00:00:00Z' });
  });

  it('list shows batches and how far they are, or the invitations of one', async () => {
    const invite = { invite_id: ID, email: 'ada@example.com', name: null, status: 'failed', max_uses: 1, uses: 0 };
    gateway.script(
      { json: { data: [batch], has_more: false, next_cursor: null } },
      { json: { data: [{ ...invite, failure: '550 no', sent_at: null, revoked_at: null }], has_more: false, next_cursor: null } },
    );
    expect((await terminal.type(['invites', 'list'])).stdout).toBe(
      `${ID}\tSpring beta\tsending\t1/3\t1\tpro for 30 days, 10 USD\t2027-01-31T00:00:00.000Z\n`,
    );
    expect((await terminal.type(['invites', 'list', ID])).stdout).toBe(`${ID}\tada@example.com\tfailed\t0/1\t-\t550 no\n`);
  });

  it('revoke ends a batch, or one invitation', async () => {
    const invite = { invite_id: ID, email: null, name: null, status: 'revoked', max_uses: 1, uses: 0, failure: null, sent_at: null };
    gateway.script({ json: batch }, { json: { ...invite, revoked_at: '2026-11-21T08:00:00.000Z' } });
    await terminal.type(['invites', 'revoke', ID]);
    expect((await terminal.type(['invites', 'revoke', ID, ID])).stderr).toBe(`Revoked ${ID}.\n`);
    const path = `/v1/events/admin/invite-batches/${ID}`;
    expect(gateway.requests.map((request) => request.path)).toEqual([`${path}/revoke`, `${path}/invites/${ID}/revoke`]);
  });

  it('activate needs no login', async () => {
    gateway.script({ status: 201, json: exampleAnswer('invites.activate', 201) });
    const { stdout, exitCode } = await terminal.type(['invites', 'activate', 'tgi_x', '--email', 'ada@example.com'], {});
    expect([stdout.split('\n')[1], exitCode]).toEqual(['plan\tpro', 0]);
    expect(gateway.requests[0]?.headers.authorization).toBeUndefined();
  });
});
