import { refusal } from '@tallygate/sdk/testing/fixtures';
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

it('prints the answer as it comes, for pipes, and indented for people', async () => {
  gateway.script({ text: '{"a":1}', headers: { 'content-type': 'application/json' } });
  gateway.script({ text: '{"a":1}', headers: { 'content-type': 'application/json' } });
  expect(await terminal.type(['api', '/v1/usage?group_by=model'])).toEqual({ stdout: '{"a":1}', stderr: '', exitCode: 0 });
  expect(gateway.requests[0]).toMatchObject({ method: 'GET', path: '/v1/usage', query: { group_by: 'model' } });
  expect(gateway.requests[0]?.headers.authorization).toBe('Bearer tg_test_secret');
  expect((await terminal.type(['api', '/v1/usage'], { apiKey: 'tg_test_secret', isTty: true })).stdout).toBe('{\n  "a": 1\n}\n');
});

it('sends what it is given, from a file or a pipe', async () => {
  gateway.script({ text: 'done' }, { text: 'done' });
  const body = '{"monthly_cap_usd":"25"}';
  await terminal.type(['api', '-X', 'PATCH', '/v1/keys/019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77/budget', '--input', '-'], {
    apiKey: 'tg_test_secret',
    stdin: body,
  });
  terminal.files.set('body.json', '{"input":"Hi."}');
  await terminal.type(['api', '/v1/moderations', '--input', 'body.json', '-o', 'answer.txt']);
  expect(gateway.requests).toMatchObject([
    { method: 'PATCH', body: { monthly_cap_usd: '25' } },
    { method: 'POST', body: { input: 'Hi.' } },
  ]);
});

it('fails as every command does where the gateway refuses', async () => {
  gateway.script(refusal('not_found'));
  expect(await terminal.type(['api', '/v1/requests/req_019aa2f1c2d37b6e8c4d1f00aa55ee77'])).toMatchObject({
    stdout: '',
    exitCode: 1,
    stderr: expect.stringContaining('code: not_found'),
  });
});

it.each([['https://evil.example/v1/usage'], ['//evil.example/v1/usage'], ['v1/usage']])(
  'takes no address of somebody else: %s',
  async (path) => {
    expect(await terminal.type(['api', path])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('begins with /') });
    expect(gateway.requests).toEqual([]);
  },
);

it('reports input that is not JSON', async () => {
  expect(await terminal.type(['api', '/v1/moderations', '--input', '-'], { apiKey: 'tg_test_secret', stdin: '{' })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('not JSON'),
  });
});
