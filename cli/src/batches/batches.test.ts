import { storedBatch as batch, storedFile as file, refusal } from '@tallygate/sdk/testing/fixtures';
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

const { id } = batch('in_progress');

describe('batches', () => {
  it('are created of a file on this computer, which is stored first', async () => {
    terminal.files.set('data/requests.jsonl', '{}\n');
    gateway.script({ json: file(1) }, { json: batch('in_progress') });
    const { stdout, exitCode } = await terminal.type(['batches', 'create', 'data/requests.jsonl', '--json', 'id,status']);
    expect([stdout, exitCode]).toEqual([`{"id":"${id}","status":"in_progress"}\n`, 0]);
    expect(gateway.requests[0]?.body).toEqual({ purpose: 'batch', file: '{}\n' });
    expect(gateway.requests[1]?.body).toEqual({
      input_file_id: file(1).id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
  });

  it('are created of a stored file, for any endpoint', async () => {
    gateway.script({ json: batch('validating') });
    const { exitCode } = await terminal.type(['batches', 'create', file(1).id, '--endpoint', '/v1/embeddings']);
    expect([exitCode, gateway.requests[0]?.body]).toEqual([
      0,
      { input_file_id: file(1).id, endpoint: '/v1/embeddings', completion_window: '24h' },
    ]);
    expect((await terminal.type(['batches', 'create', 'nowhere.jsonl'])).exitCode).toBe(2);
  });

  it('whose lines are wrong say which, and are a failure', async () => {
    const errors = { object: 'list', data: [{ code: 'invalid_json_line', message: 'Not JSON.', param: null, line: 3 }] };
    gateway.script({ json: { ...batch('failed'), errors } });
    const { stderr, exitCode } = await terminal.type(['batches', 'create', file(1).id]);
    expect([stderr, exitCode]).toEqual(['line 3: invalid_json_line: Not JSON.\n', 1]);
  });

  it('that do not fit a budget have the exit code of budgets', async () => {
    gateway.script(refusal('budget_exceeded'));
    expect((await terminal.type(['batches', 'create', file(1).id])).exitCode).toBe(5);
  });

  it('are listed', async () => {
    gateway.script({ json: { object: 'list', data: [batch('completed')], first_id: id, last_id: id, has_more: false } });
    const { stdout } = await terminal.type(['batches', 'list']);
    expect(stdout).toBe(`${id}\tcompleted\t3/3\t/v1/chat/completions\t2025-11-21T08:00:00.000Z\n`);
  });

  it('are waited for, with their progress on stderr', async () => {
    gateway.script({ json: batch('in_progress') }, { json: batch('in_progress') }, { json: batch('completed') });
    const { stdout, stderr, exitCode } = await terminal.type(['batches', 'wait', id, '--every', '0.001', '--json', 'status']);
    expect([stdout, stderr, exitCode]).toEqual(['{"status":"completed"}\n', 'in_progress 1/3\ncompleted 3/3\n', 0]);
  });

  it('that did not complete are a failure to wait for', async () => {
    gateway.script({ json: batch('expired') });
    expect((await terminal.type(['batches', 'wait', id])).exitCode).toBe(1);
  });

  it('are cancelled', async () => {
    gateway.script({ json: batch('cancelling') });
    expect((await terminal.type(['batches', 'cancel', id, '--json', 'status'])).stdout).toBe('{"status":"cancelling"}\n');
    expect(gateway.requests[0]).toMatchObject({ method: 'POST', path: `/v1/batches/${id}/cancel` });
  });

  it('give their answers, byte for byte, and say when there are none', async () => {
    gateway.script({ json: batch('completed') }, { text: '{"id":"1"}\n' }, { json: batch('completed') });
    expect(await terminal.type(['batches', 'output', id])).toEqual({ stdout: '{"id":"1"}\n', stderr: '', exitCode: 0 });
    const { stderr, exitCode } = await terminal.type(['batches', 'output', id, '--errors']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The batch is completed and has no error file.');
  });
});
