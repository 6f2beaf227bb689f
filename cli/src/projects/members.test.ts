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

const [PROJECT, ADA] = ['019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee01', '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee02'];
const ada = {
  ...{ user_id: ADA, email: 'ada@example.com', name: 'Ada', project_role: 'admin', by_directory: false },
  added_at: '2026-11-21T08:00:00.000Z',
};
const PATH = `/v1/projects/${PROJECT}/members`;

describe('members of a project', () => {
  it('are listed, with whether the directory added them', async () => {
    gateway.script({ json: { data: [ada, { ...ada, by_directory: true }], has_more: false, next_cursor: null } });
    const line = `${ADA}\tada@example.com\tadmin\t`;
    expect((await terminal.type(['projects', 'members', 'list', PROJECT])).stdout).toBe(`${line}\n${line}directory\n`);
    expect(gateway.requests[0]).toMatchObject({ method: 'GET', path: PATH });
  });

  it('are added by their address, with a role', async () => {
    const account = {
      user_id: ADA,
      email: 'ada@example.com',
      name: 'Ada',
      account_role: 'developer',
      external_id: null,
      mfa_enabled: false,
    };
    gateway.script({ json: { data: [{ ...account, joined_at: ada.added_at }], has_more: false, next_cursor: null } }, { json: ada });
    const { stdout } = await terminal.type([
      'projects',
      'members',
      'add',
      PROJECT,
      'ADA@example.com',
      '--role',
      'admin',
      '--json',
      'project_role',
    ]);
    expect(stdout).toBe('{"project_role":"admin"}\n');
    expect(gateway.requests[1]).toMatchObject({ method: 'PUT', path: `${PATH}/${ADA}`, body: { project_role: 'admin' } });
  });

  it('are removed', async () => {
    gateway.script({ status: 204 });
    expect((await terminal.type(['projects', 'members', 'remove', PROJECT, ADA])).stderr).toBe(`Removed ${ADA} from the project.\n`);
    expect(gateway.requests[0]).toMatchObject({ method: 'DELETE', path: `${PATH}/${ADA}` });
  });
});
