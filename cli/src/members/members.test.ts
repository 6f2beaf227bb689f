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
const ada = {
  ...{ user_id: ID, email: 'ada@example.com', name: 'Ada', account_role: 'developer', external_id: null, mfa_enabled: false },
  joined_at: '2026-11-21T08:00:00.000Z',
};
const listed = { data: [ada], has_more: false, next_cursor: null };

describe('members', () => {
  it('are invited with a role', async () => {
    const times = { created_at: '2026-11-21T08:00:00.000Z', expires_at: '2026-11-28T08:00:00.000Z' };
    gateway.script({
      status: 201,
      json: { invitation_id: ID, email: 'ada@example.com', account_role: 'viewer', external_id: null, ...times },
    });
    const { stdout } = await terminal.type(['members', 'invite', 'ada@example.com', '--role', 'viewer', '--json', 'account_role']);
    expect(stdout).toBe('{"account_role":"viewer"}\n');
    expect(gateway.requests[0]).toMatchObject({
      path: '/v1/members/invitations',
      body: { email: 'ada@example.com', account_role: 'viewer' },
    });
  });

  it('are listed, and changed by their address', async () => {
    gateway.script({ json: listed });
    expect((await terminal.type(['members', 'list'])).stdout).toBe(`${ID}\tada@example.com\tAda\tdeveloper\n`);
    gateway.script({ json: listed }, { json: { ...ada, account_role: 'admin' } });
    expect((await terminal.type(['members', 'role', 'ADA@example.com', 'admin'])).stdout).toContain('Role\tadmin\n');
    expect(gateway.requests[2]).toMatchObject({ method: 'PATCH', path: `/v1/members/${ID}`, body: { account_role: 'admin' } });
  });

  it('are removed', async () => {
    gateway.script({ status: 204 });
    expect((await terminal.type(['members', 'remove', ID])).stderr).toBe(`Removed ${ID}.\n`);
    expect(gateway.requests[0]).toMatchObject({ method: 'DELETE', path: `/v1/members/${ID}` });
  });
});
