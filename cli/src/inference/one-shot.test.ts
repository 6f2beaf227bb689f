import { completion, inferenceAnswerHeaders, RECEIPT_ID, refusal } from '@tallygate/sdk/testing/fixtures';
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

const headers = { ...inferenceAnswerHeaders, 'x-cost-usd': '0.011' };
const remark = (model: string) => `cost 0.011 USD, receipt ${RECEIPT_ID}, ${model}\n`;

it('makes an image into a file, and shows a terminal no bytes', async () => {
  const data = [{ b64_json: Buffer.from('PNG').toString('base64') }];
  gateway.script({ json: { created: 1763712000, data }, headers });
  const { stderr } = await terminal.type(['image', 'A', 'ledger.', '--size', '1024x1024', '--quality', 'low', '-o', 'a.png']);
  expect([terminal.files.get('a.png'), stderr]).toEqual(['PNG', `Wrote a.png.\n${remark('gpt-image-1')}`]);
  expect(gateway.requests[0]?.body).toEqual({ model: 'gpt-image-1', prompt: 'A ledger.', size: '1024x1024', quality: 'low' });
  const looked = await terminal.type(['image', 'A ledger.'], { apiKey: 'tg_test_secret', isTty: true });
  expect([looked.exitCode, gateway.requests.length]).toEqual([2, 1]);
});

it('pays for nothing that it cannot write; prints the cost when the write fails later', async () => {
  for (const command of ['image', 'speak'])
    expect(await terminal.type([command, 'A ledger.', '-o', '/nowhere/a.png'])).toEqual({
      stdout: '',
      stderr: 'error: /nowhere/a.png cannot be written: there is no folder /nowhere.\n  code: not_writable\n  next: Name another file.\n',
      exitCode: 2,
    });
  expect(gateway.requests).toEqual([]);
  gateway.script({ json: { created: 1763712000, data: [{ b64_json: 'UE5H' }] }, headers });
  const { stderr, exitCode } = await terminal.type(['image', 'A ledger.', '-o', '/full/a.png']);
  expect([stderr, exitCode]).toEqual([`${remark('gpt-image-1')}error: There is no space left.\n  code: failure\n`, 1]);
});

it('speaks a text, and writes a recording down', async () => {
  gateway.script({ text: 'sound', headers }, { text: 'Hello.\n', headers });
  expect(await terminal.type(['speak', 'Hello.', '--format', 'wav'])).toEqual({ stdout: 'sound', stderr: remark('tts-1'), exitCode: 0 });
  terminal.files.set('a.wav', 'sound');
  expect(await terminal.type(['transcribe', 'a.wav'])).toEqual({ stdout: 'Hello.\n', stderr: remark('whisper-1'), exitCode: 0 });
  expect(gateway.requests[1]?.body).toEqual({ model: 'whisper-1', file: 'sound', response_format: 'text' });
  expect((await terminal.type(['transcribe', 'nowhere.wav'])).exitCode).toBe(2);
});

it('gives the vector of a text as JSON', async () => {
  const data = [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }];
  const answer = { json: { object: 'list', data, model: 'text-embedding-3-small', usage: { prompt_tokens: 1, total_tokens: 1 } }, headers };
  gateway.script(answer, answer);
  expect(await terminal.type(['embed', '--dimensions', '2'], { apiKey: 'tg_test_secret', stdin: 'alpha\n' })).toEqual({
    stdout: '[0.6,0.8]\n',
    stderr: remark('text-embedding-3-small'),
    exitCode: 0,
  });
  expect(gateway.requests[0]?.body).toMatchObject({ input: 'alpha', dimensions: 2, encoding_format: 'float' });
  expect((await terminal.type(['embed', 'alpha', '--json', 'dimensions,cost_usd'])).stdout).toBe('{"dimensions":2,"cost_usd":"0.011"}\n');
});

it('prints the harm categories of a text, the most likely first', async () => {
  const result = { flagged: true, categories: { hate: false, violence: true }, category_scores: { hate: 0.1, violence: 0.98765 } };
  const answer = { json: { id: 'modr_1', model: 'omni-moderation-latest', results: [result] } };
  gateway.script(answer, answer);
  expect((await terminal.type(['moderate', 'A text.'])).stdout).toBe('violence\tyes\t0.9877\nhate\t\t0.1000\n');
  expect((await terminal.type(['moderate', 'A text.', '--json', 'flagged'])).stdout).toBe('{"flagged":true}\n');
});

it('exits with 5 where a budget refuses, for every kind of request', async () => {
  for (const argv of [
    ['image', 'x', '-o', 'x.png'],
    ['speak', 'x'],
    ['embed', 'x'],
    ['responses', 'create', 'x'],
  ]) {
    gateway.script(refusal('budget_exceeded'));
    expect((await terminal.type(argv)).exitCode).toBe(5);
  }
});

it('lists, shows and deletes stored chat completions', async () => {
  const message = { id: `${completion.id}-0`, role: 'user', content: 'Say hello.' };
  const page = (data: { id: string }[]) => ({
    json: { object: 'list', data, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: false },
  });
  gateway.script(page([completion]), { json: completion }, page([message]), {
    json: { id: completion.id, object: 'chat.completion.deleted', deleted: true },
  });
  expect((await terminal.type(['chats', 'list', '--metadata', 'topic=demo'])).stdout).toContain(`${completion.id}\t`);
  expect(gateway.requests[0]?.query).toEqual({ limit: '51', order: 'desc', 'metadata[topic]': 'demo' });
  expect((await terminal.type(['chats', 'get', completion.id, '--json', 'id'])).stdout).toBe(`{"id":"${completion.id}"}\n`);
  expect((await terminal.type(['chats', 'messages', completion.id])).stdout).toBe(`${message.id}\tuser\tSay hello.\n`);
  expect((await terminal.type(['chats', 'delete', completion.id])).stderr).toBe(`Deleted ${completion.id}.\n`);
});

it('shows operators how the providers are doing', async () => {
  const health = {
    ...{ deployment: 'openai#1', provider: 'openai', model: 'gpt-4o-mini', upstream_model: 'gpt-4o-mini', weight: 1, state: 'open' },
    ...{ open_until: '2026-11-21T08:00:30.000Z', recent_calls: 4, recent_failures: 4, latency_ms: 310.5 },
    last_failure: { at: '2026-11-21T08:00:00.000Z', kind: 'rate_limited', status: 429 },
    limits: null,
  };
  gateway.script({ json: { data: [health], has_more: false, next_cursor: null } });
  expect((await terminal.type(['deployments'], { sessionToken: 'tgs_secret' })).stdout).toBe(
    'gpt-4o-mini\topenai#1\topen\t2026-11-21T08:00:30.000Z\t4\t4\t311\trate_limited 429 2026-11-21T08:00:00.000Z\n',
  );
});
