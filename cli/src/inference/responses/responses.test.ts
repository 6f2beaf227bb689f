import { event, inferenceAnswerHeaders, RECEIPT_ID, storedResponse } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Terminal } from '../../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const { id } = storedResponse('completed');
const remark = `stored as ${id}\ncost 0.00000255 USD, receipt ${RECEIPT_ID}, gpt-4o-mini\n`;
const list = (...data: { id: string }[]) => ({
  json: { object: 'list', data, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false },
});
const said = (itemId: string, text: string) => ({
  ...{ id: itemId, type: 'message', role: 'user' },
  content: [{ type: 'input_text', text }],
});

describe('a response', () => {
  it('is made with its text on stdout, its id, cost and receipt on stderr', async () => {
    gateway.script({ json: storedResponse('completed'), headers: inferenceAnswerHeaders });
    const options = [
      '--instructions',
      'Be brief.',
      '--previous',
      'resp_0',
      '--max-tokens',
      '64',
      '--metadata',
      'topic=demo',
      '--run',
      'r1',
    ];
    expect(await terminal.type(['responses', 'create', ...options, 'Say', 'hello.'])).toEqual({
      stdout: 'Hello.\n',
      stderr: remark,
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toEqual({
      ...{ model: 'gpt-4o-mini', input: 'Say hello.', instructions: 'Be brief.' },
      ...{ previous_response_id: 'resp_0', max_output_tokens: 64, metadata: { topic: 'demo' } },
    });
    expect(gateway.requests[0]?.headers['x-agent-run-id']).toBe('r1');
  });

  it('is shown as it comes', async () => {
    const deltas = ['Hel', 'lo.'].map((delta, index) => ({ type: 'response.output_text.delta', sequence_number: index, delta }));
    const last = { type: 'response.completed', sequence_number: 2, response: storedResponse('completed') };
    gateway.script({ pieces: [...deltas, last].map(event), end: true, headers: inferenceAnswerHeaders });
    expect(await terminal.type(['responses', 'create', '--stream', 'Say hello.'])).toEqual({
      stdout: 'Hello.\n',
      stderr: remark,
      exitCode: 0,
    });
    expect(gateway.requests[0]?.body).toMatchObject({ stream: true });
  });

  it('is begun in the background, waited for, and shown', async () => {
    gateway.script({ json: storedResponse('queued') }, { json: storedResponse('completed') }, { json: storedResponse('completed') });
    const begun = await terminal.type(['responses', 'create', '--background', 'Say hello.', '--json', 'id,status']);
    expect(begun.stdout).toBe(`{"id":"${id}","status":"queued"}\n`);
    const waited = await terminal.type(['responses', 'wait', id, '--json', 'output_text,cost_usd']);
    expect(waited).toEqual({ stdout: '{"output_text":"Hello.","cost_usd":"0.00000255"}\n', stderr: '', exitCode: 0 });
    expect((await terminal.type(['responses', 'get', id])).stdout).toContain('Text\tHello.\n');
  });

  it('that failed is a failure', async () => {
    const failed = { ...storedResponse('failed'), error: { code: 'server_error', message: 'It broke off.' } };
    gateway.script({ json: failed }, { json: failed });
    const { stdout, exitCode } = await terminal.type(['responses', 'wait', id]);
    expect([stdout.includes('Error\tIt broke off.\n'), exitCode]).toEqual([true, 1]);
    expect((await terminal.type(['responses', 'create', 'Say hello.', '--json', 'status'])).exitCode).toBe(1);
  });

  it('is cancelled, and deleted', async () => {
    gateway.script({ json: storedResponse('cancelled') }, { json: { id, object: 'response', deleted: true } });
    expect((await terminal.type(['responses', 'cancel', id, '--json', 'status'])).stdout).toBe('{"status":"cancelled"}\n');
    expect(await terminal.type(['responses', 'delete', id])).toEqual({ stdout: '', stderr: `Deleted ${id}.\n`, exitCode: 0 });
    expect(gateway.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `POST /v1/responses/${id}/cancel`,
      `DELETE /v1/responses/${id}`,
    ]);
  });

  it('lists its input', async () => {
    gateway.script(list(said('msg_1', 'One'), said('msg_2', 'Two')));
    expect((await terminal.type(['responses', 'items', id])).stdout).toBe('msg_1\tmessage\tuser\tOne\nmsg_2\tmessage\tuser\tTwo\n');
  });
});

describe('a conversation', () => {
  const conversation = { id: 'conv_1', object: 'conversation', created_at: 1763712000, metadata: { topic: 'demo' } };

  it('is begun, added to, listed and deleted', async () => {
    const deleted = { id: 'conv_1', object: 'conversation.deleted', deleted: true };
    gateway.script(
      { json: conversation },
      list(said('msg_1', 'Hello.')),
      list(said('msg_1', 'Hello.')),
      { json: conversation },
      { json: deleted },
    );
    const created = await terminal.type(['conversations', 'create', '--metadata', 'topic=demo', '--json', 'id,metadata']);
    expect(created.stdout).toBe('{"id":"conv_1","metadata":{"topic":"demo"}}\n');
    await terminal.type(['conversations', 'add', 'conv_1', 'Hello.', '--role', 'assistant']);
    expect(gateway.requests[1]?.body).toEqual({
      items: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
    });
    expect((await terminal.type(['conversations', 'items', 'conv_1'])).stdout).toBe('msg_1\tmessage\tuser\tHello.\n');
    expect((await terminal.type(['conversations', 'get', 'conv_1'])).stdout).toContain('Metadata\ttopic=demo\n');
    expect((await terminal.type(['conversations', 'delete', 'conv_1'])).stderr).toBe('Deleted conv_1.\n');
  });
});
