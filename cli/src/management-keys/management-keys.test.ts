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
const MANAGEMENT_KEY = 'tg_mgmt_4f0Zk1x8QbRmabcdefghijklmnopqrstuvwxyzABCDEF1Ggcwk';
const terraform = {
  ...{ management_key_id: ID, name: 'terraform', prefix: 'tg_mgmt_4f0Zk1x8QbRm', scopes: ['keys:write'], allowed_addresses: null },
  ...{ status: 'active', created_by: ID, created_at: '2026-11-21T08:00:00.000Z', expires_at: null, rotated_at: null },
  ...{ previous_secret_expires_at: null, revoked_at: null, last_used_at: null },
};

describe('management keys', () => {
  it('are created, and the secret alone is on stdout', async () => {
    gateway.script({ status: 201, json: { ...terraform, key: MANAGEMENT_KEY } });
    const typed = ['management-keys', 'create', '--name', 'terraform', '--scopes', 'keys:write', '--address', '203.0.113.0/24'];
    expect((await terminal.type(typed)).stdout).toBe(`${MANAGEMENT_KEY}\n`);
    expect(gateway.requests[0]).toMatchObject({
      path: '/v1/management-keys',
      body: { name: 'terraform', scopes: ['keys:write'], allowed_addresses: ['203.0.113.0/24'] },
    });
  });

  it('are listed, rotated and revoked', async () => {
    gateway.script({ json: { data: [terraform], has_more: false, next_cursor: null } });
    expect((await terminal.type(['management-keys', 'list'])).stdout).toBe(`${ID}\tterraform\ttg_mgmt_4f0Zk1x8QbRm\tactive\tkeys:write\n`);
    gateway.script({ json: { ...terraform, key: MANAGEMENT_KEY } }, { status: 204 });
    expect((await terminal.type(['management-keys', 'rotate', ID, '--grace', '1h'])).stdout).toBe(`${MANAGEMENT_KEY}\n`);
    expect(gateway.requests[1]?.body).toEqual({ grace_seconds: 3600 });
    expect((await terminal.type(['management-keys', 'revoke', ID])).stderr).toBe(`Revoked ${ID}.\n`);
  });

  it('in TALLYGATE_API_KEY do what otherwise needs a login', async () => {
    gateway.script({
      status: 201,
      json: { project_id: ID, name: 'search', external_id: null, created_at: terraform.created_at, archived_at: null },
    });
    const { exitCode } = await terminal.type(['projects', 'create', 'search'], { apiKey: MANAGEMENT_KEY });
    expect(exitCode).toBe(0);
    expect(gateway.requests[0]?.headers['authorization']).toBe(`Bearer ${MANAGEMENT_KEY}`);
  });
});
