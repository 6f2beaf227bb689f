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
const AT = '2026-11-21T08:00:00.000Z';
const request = {
  ...{ request_id: ID, type: 'sales', status: 'new', name: 'Ada', email: 'ada@example.com', company: null, client_type: null },
  ...{ message: 'We would like 40 seats, and to hear what they cost in the long run.', owner: null },
  ...{ history: [{ entry_id: ID, actor: { kind: 'user', id: ID }, changes: {}, note: 'Called back.', created_at: AT }] },
  ...{ created_at: AT, updated_at: AT, closed_at: null },
};

describe('requests', () => {
  it('list prints who asks for what', async () => {
    gateway.script({ json: { data: [request], has_more: false, next_cursor: null } });
    const { stdout } = await terminal.type(['requests', 'list', '--status', 'new', '--type', 'sales']);
    expect(stdout).toBe(`${ID}\t${AT}\tsales\tnew\tAda <ada@example.com>\tWe would like 40 seats, and to hear what they cost in the l…\n`);
    expect(gateway.requests[0]?.query).toEqual({ status: 'new', type: 'sales', limit: '51' });
  });

  it('update sends the options', async () => {
    gateway.script({ json: { ...request, status: 'in_progress' } });
    const argv = ['requests', 'update', ID, '--status', 'in_progress', '--owner', 'none', '--note', 'Called back.'];
    const { stdout, exitCode } = await terminal.type(argv);
    expect(gateway.requests[0]).toMatchObject({ method: 'PATCH', body: { status: 'in_progress', owner: null, note: 'Called back.' } });
    expect([stdout.split('\n').slice(2, 4), exitCode]).toEqual([['status\tin_progress', 'owner\t-'], 0]);
    expect((await terminal.type(['requests', 'update', ID])).exitCode).toBe(2);
  });

  it('send needs no login', async () => {
    gateway.script({ status: 201, json: exampleAnswer('clientRequests.create', 201) });
    const argv = ['requests', 'send', '-', '--name', 'Ada', '--email', 'ada@example.com', '--type', 'sales'];
    expect(await terminal.type(argv, { stdin: 'We would like 40 seats.\n' })).toEqual({
      stdout: `id\t${ID}\n`,
      stderr: 'The request was sent; a mail confirms it.\n',
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toEqual({ type: 'sales', name: 'Ada', email: 'ada@example.com', message: 'We would like 40 seats.' });
    expect(gateway.requests[0]?.headers.authorization).toBeUndefined();
  });
});
